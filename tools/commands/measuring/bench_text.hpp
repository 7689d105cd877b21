// SPDX-License-Identifier: MIT
// bench_text.hpp - formats the results of bench as a table for gnuplot and as JSON. Measures nothing.
#pragma once
#include "comad.hpp"
#include "commands/measuring/throughput.hpp"
#include "input/request.hpp"
#include "text/missing.hpp"

#include <string>
#include <vector>

namespace ibtool {

/// The measurement of one window.
struct bench_row {
    std::string window; ///< text for the window
    unsigned max_outstanding;
    tally measured{};
};

/// The results of bench, and their conditions.
struct bench_report {
    std::string fabric;
    bool is_virtual = false; ///< times are virtual
    std::string rpc;
    load what;
    const comad::iba::structure* attribute = nullptr;
    extent how_long;
    unsigned rounds = 0;
    comad::coro::schedule_options patience;   ///< only timeout and retries are used
    std::string lowered;                      ///< why there are no larger windows; empty: none were requested
    std::vector<discovery::failure> problems; ///< in JSON one line for each, with all details
    std::vector<bench_row> rows;
};

/// Returns comments after `#`, then one line for each window. Values that were not measured are `-`.
std::string bench_table(const bench_report&);
/// Returns one object of schema `comad.bench/1` on one line.
std::string bench_json(const bench_report&);

} // namespace ibtool
