// SPDX-License-Identifier: MIT
// comparison.hpp - compares a sweep with a sweep of an earlier run: whether both are of one fabric, which ports restarted, and how much
// each counter grew. Sends nothing.
#pragma once
#include <comad/counters/formats.hpp>
#include <comad/counters/sweep.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace comad::counters {

/// Returns whether two subnets are of one fabric: at least half of the nodes of the smaller one are in both. Nodes are identified by node
/// GUID and type. An empty subnet belongs to every fabric.
bool is_same_fabric(const discovery::subnet&, const discovery::subnet&);

/// What happened to a port between two samples.
enum class port_history : u8 {
    counted,   ///< no counter was cleared
    cleared,   ///< at least one counter was cleared
    restarted, ///< all traffic and error counters started again from 0: everything was cleared, or the device restarted
};
/// Returns what happened to a port. Precondition: `before` is not later than `after`.
port_history history_of(const sample& before, const sample& after) noexcept;

/// Prepares a comparison with a sweep of an earlier run, after align_to(). If most counters of a group (data and packets, or errors) of a
/// port that differ are lower than before, the group was cleared. A counter of this group that is not lower has already passed its earlier
/// value again, so its increase is unknown: this function removes the counter from `before`.
/// Sets cleared_ports and restarted_ports in `about`.
/// Precondition: `before` has the ports of `now` in the same order, and its times are not later.
void prepare_comparison(const sweep& now, sweep& before, earlier_sweep& about);

/// Returns the number of ports of `now` that were read and are not in `then`. A port that `then` contains but could not read is not new.
/// Ports are identified by nodeGUID and number.
std::size_t new_ports(const sweep& now, const discovery::subnet& subnet_now, const sweep& then,
                      const discovery::subnet& subnet_then);

/// Returns the number of ports that `then` read and that are not in the subnet `now` any more. `wants`: selects nodes, so that ports of
/// other nodes do not count; null: all nodes. It gets the node of `now`, or of `subnet_then` if `now` does not contain the node.
std::size_t gone_ports(const discovery::subnet& now, const sweep& then, const discovery::subnet& subnet_then,
                       const std::function<bool(const discovery::node&)>& wants = {});

/// Returns the sweep with the increases since `before` as its counters. Ports without an earlier sample are not valid. A counter whose
/// increase is unknown was not read, according to counter_values::has(). Sums are left out, details stay.
/// Precondition: as for prepare_comparison(), which must have been called.
sweep increases_of(const sweep& now, const sweep& before);

/// `sweep 3 of 'yesterday.sweeps', 2026-11-25 14:00:00 UTC, 23.9 h before: 2 ports new, 1 gone, 0 cleared, 36 restarted`. The name of the
/// file is escaped.
std::string earlier_text(const earlier_sweep&);

} // namespace comad::counters
