// SPDX-License-Identifier: MIT
// bench_run.hpp - runs the measurements of bench in a session: finds the targets, and measures each window or rate in each round, with one
// or several threads. Does not depend on a command line or on a format.
#pragma once
#include "commands/measuring/bench_report.hpp"
#include "commands/measuring/bench_targets.hpp"
#include "session/session.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// What a run does, in addition to the conditions in its report.
struct bench_plan {
    std::vector<request> requests{}; ///< the RPCs as the user named them
    std::vector<bench_target> targets{};
    target_choice discovered{};
    std::optional<unsigned>
        per_destination; ///< nullopt: no limit for one target or an open load, else the limit of all commands
    std::optional<std::chrono::nanoseconds> duration, warm_up; ///< nullopt: short in virtual time, which has no noise
    comad::u64 count = 0;                                      ///< MADs per measurement; 0: the duration counts
    std::function<void(const bench_report&)> check{}; ///< called before the first measurement; may throw. Empty: none
};

/// Runs all measurements and stores the results in the report. Returns the counts of MADs for -v.
/// Errors: std::runtime_error as for a session and find_targets(), and what `check` throws.
std::string run_bench(const bench_plan&, const global_options&, bench_report&);

/// Returns whether the load is queries of the SA.
bool queries_sa(const load&);

} // namespace ibtool
