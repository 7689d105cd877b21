// SPDX-License-Identifier: MIT
// probe_lids.hpp - reads the nodes at a list of LIDs, by LID-routed SMPs, without a discovery.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/smp/node.hpp>
#include <comad/mad/error.hpp>

#include <optional>
#include <string>
#include <vector>

namespace comad::discovery {

/// The port that responded at a LID.
struct lid_probe {
    iba::lid LID{};
    /// Of the node. portGUID and localPortNum belong to the port that has the LID. nullopt: no reply, see `error`.
    std::optional<iba::smp::NodeInfo> info{};
    std::string description{};             ///< of the node, as received; empty if it was not read
    std::optional<mad::mad_error> error{}; ///< why NodeInfo or NodeDescription is missing
};

/// Options of probe_lids().
struct probe_options {
    bool description = true; ///< reads the NodeDescription of each node
    u64 MKey = 0;            ///< the M_Key of the SMPs
};

/// Reads NodeInfo at each of these LIDs, and NodeDescription once for each node, all in parallel. The result has one element for each
/// LID, without repetitions, in ascending order. Several LIDs can lead to one port (LMC). Sends only SubnGets: one for each LID, and one
/// for each node.
/// Precondition: unicast LIDs. Cancel: LIDs that were not queried have the error `cancelled`. Lifetime: the schedule must outlive the
/// task.
coro::task<std::vector<lid_probe>> probe_lids(coro::MADSchedule& schedule, std::vector<iba::lid> lids,
                                              probe_options options = {});

} // namespace comad::discovery
