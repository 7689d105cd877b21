// SPDX-License-Identifier: MIT
// bench_text.hpp - formats the results of bench as a table for gnuplot, or as JSON. Measures nothing.
#pragma once
#include "comad.hpp"
#include "commands/measuring/throughput.hpp"
#include "input/request.hpp"
#include "text/failure_text.hpp"

#include <string>
#include <vector>

namespace ibtool {

/// The measurements with one window size.
struct bench_row {
    std::string window; ///< window size as text
    unsigned max_outstanding;
    tally measured{};
};

/// The results of bench, and the conditions under which they were measured.
struct bench_report {
    std::string fabric;
    bool is_virtual = false; ///< times are virtual
    std::string rpc;
    load what;
    const comad::iba::structure* attribute = nullptr;
    extent how_long;
    unsigned rounds = 0;
    comad::coro::schedule_options patience;   ///< only timeout and retries are used
    std::string lowered;                      ///< why window sizes were lowered; empty: they were not
    std::vector<discovery::failure> problems; ///< failures; JSON has one line with all details for each
    std::vector<bench_row> rows;
};

/// Returns a table: comments after `#`, then one line for each window size. Values that were not measured are `-`.
std::string bench_table(const bench_report&);
/// Returns one JSON object of schema `comad.bench/1` on one line.
std::string bench_json(const bench_report&);

} // namespace ibtool
