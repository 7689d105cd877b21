// SPDX-License-Identifier: MIT
// exposition.hpp - formats sweeps for Prometheus: series with names, help and labels. Does not depend on files and sockets.
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

/// The counts of all sweeps of a run.
struct sweep_totals {
    comad::u64 sweeps = 0;
    comad::u64 skipped = 0; ///< due while another one was running, or while the device was disconnected
    comad::u64 mads = 0;
};

/// The resources that the program uses.
struct process_cost {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
};

/// The data of one fabric on the page.
struct exposed_sweep {
    sweep_view view;
    sweep_totals totals;
    std::string fabric = {}; ///< value of the label `fabric` of all its series; empty: no such label
    /// Findings of the health rules between this sweep and the one before; nullopt: no rules were given, or it was the first sweep.
    std::optional<std::vector<comad::counters::health_finding>> findings = {};
    /// The known parts of the fabric that are missing; null: only what was found is known.
    std::shared_ptr<const missing_parts> missing = {};
};

/// A device that carries the sweeps of one fabric.
struct exposed_device {
    std::string fabric; ///< name of the fabric, as in exposed_sweep
    bool is_up = true;  ///< false: it is disconnected, or was not ready yet
};

/// Returns the page in pieces of about 64 KiB, so that other work can run in between. Views must keep their data alive (`kept`).
comad::coro::generator<std::string> exposition_pieces(std::vector<exposed_sweep>, process_cost,
                                                      std::vector<exposed_device> = {});

/// Returns all series after a sweep, in Prometheus' text format 0.0.4. Values are totals as reported by the ports, data in bytes;
/// Prometheus calculates rates from them. Series of counters and states have only the labels `node_guid` and `port`, which do not change
/// with cables, LIDs and names; `infiniband_port_info` has the names. Series of problems contain the names themselves.
std::string exposition(const sweep_view&, const sweep_totals&, const process_cost&);

} // namespace ibtool
