// SPDX-License-Identifier: MIT
// exposition.hpp - sweeps as Prometheus has them: series with names, help and labels. Knows no file and no socket.
#pragma once
#include "text/known_fabric.hpp"
#include "text/sweep_text.hpp"
#include <comad/coro/detail/generator.hpp>
#include <comad/counters/health.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// What all sweeps of a run came to.
struct sweep_totals {
    comad::u64 sweeps = 0;
    comad::u64 skipped = 0; ///< that should have begun while another one went on, or the device was lost
    comad::u64 mads = 0;
};

/// What the program itself takes.
struct process_cost {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
};

/// What one fabric has on the page.
struct exposed_sweep {
    sweep_view view;
    sweep_totals totals;
    std::string fabric = {}; ///< the value of a label of that name, of all its series; empty: they have none
    /// What rules say of it and the sweep before; nothing: there are no rules, or it was the first sweep.
    std::optional<std::vector<comad::counters::health_finding>> findings = {};
    /// What is known of the fabric and missing; null: only what was found is known.
    std::shared_ptr<const missing_parts> missing = {};
};

/// A device that carries the sweeps of one fabric.
struct exposed_device {
    std::string fabric; ///< as exposed_sweep's
    bool is_up = true;  ///< false: it is lost, or was not ready yet
};

/// The page piece by piece, some 64 KiB each, for who has other things to do between them. Views must hold what they need (`kept`).
comad::coro::generator<std::string> exposition_pieces(std::vector<exposed_sweep>, process_cost,
                                                      std::vector<exposed_device> = {});

/// All series after a sweep, in Prometheus' text format 0.0.4. Values are totals as the ports report them, data in bytes: Prometheus
/// makes rates of them. Series of counters and states have only the labels `node_guid` and `port`, which stay as they are when
/// cables, LIDs and names change; `infiniband_port_info` has the names. Series of what is wrong have the names themselves.
std::string exposition(const sweep_view&, const sweep_totals&, const process_cost&);

} // namespace ibtool
