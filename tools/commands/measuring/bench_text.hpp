// SPDX-License-Identifier: MIT
// bench_text.hpp - what bench has measured, as a table that gnuplot reads and as JSON. Measures nothing.
#pragma once
#include "comad.hpp"
#include "commands/measuring/throughput.hpp"
#include "input/request.hpp"
#include "text/missing.hpp"

#include <string>
#include <vector>

namespace ibtool {

struct bench_row {
    std::string window; ///< as it is shown
    unsigned max_outstanding;
    tally measured{};
};

struct bench_report {
    std::string fabric;
    bool is_virtual = false; ///< times are the simulation's
    std::string rpc;
    load what;
    const comad::iba::structure* attribute = nullptr;
    extent how_long;
    unsigned rounds = 0;
    comad::coro::schedule_options patience;   ///< timeout and retries count
    std::string lowered;                      ///< why there are no larger windows; empty: nobody wanted any
    std::vector<discovery::failure> problems; ///< in JSON a line each, with all that is known
    std::vector<bench_row> rows;
};

/// Comments behind `#`, then a line for each window. What was not measured is `-`.
std::string bench_table(const bench_report&);
/// One object of schema `comad.bench/1`, in a line.
std::string bench_json(const bench_report&);

} // namespace ibtool
