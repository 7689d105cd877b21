// SPDX-License-Identifier: MIT
// bench_report.hpp - the results of bench, and the conditions under which they were measured. Does not measure or format anything.
#pragma once
#include "comad.hpp"
#include "commands/measuring/open_load.hpp"
#include "commands/measuring/responses.hpp"
#include "commands/measuring/throughput.hpp"
#include "text/failure_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The measurements with one window size or one rate.
struct bench_row {
    std::string load;         ///< window size or rate as text
    unsigned max_outstanding; ///< 0: adaptive
    double rate = 0;          ///< requests per second; 0: as many as the window allows
    tally measured{};
};

/// The names of an RPC.
struct rpc_names {
    std::string rpc, attribute; ///< `SubnGet`, `SMPPortInfo`
};

/// The results of bench, and the conditions.
struct bench_report {
    std::string fabric;
    bool is_virtual = false;     ///< times are virtual
    std::vector<rpc_names> rpcs; ///< of what.rpcs
    load what;
    std::vector<std::string> target_names; ///< of what.targets; any bytes
    extent how_long;
    unsigned rounds = 0;
    unsigned threads = 1;
    std::optional<arrival_process> arrivals;  ///< of an open load
    comad::coro::schedule_options patience;   ///< only timeout and retries are used
    std::string lowered;                      ///< why window sizes were lowered; empty: they were not
    std::vector<discovery::failure> problems; ///< failures; JSON has one line with all details for each
    std::vector<bench_row> rows;

    bool is_open() const noexcept { return arrivals.has_value(); }
};

/// Returns `SubnGet SMPPortInfo`.
inline std::string text_of(const rpc_names& names) { return names.rpc + " " + names.attribute; }
/// Returns the names of the only RPC, or for several RPCs `mix` and `3 SubnGet SMPPortInfo, 1 PerformanceGet PMPortCounters`.
rpc_names names_of_load(const bench_report&);
/// Returns the path of a target.
std::string path_of(const bench_report&, std::size_t target);
/// Returns `constant` or `poisson`; empty if the load is not open.
std::string arrivals_text(const bench_report&);
/// Returns the data of each request without trailing zeros: `0x0001`.
std::vector<std::string> payloads_of(const bench_report&);
/// Returns a rate as text: `1000`, `0.5`.
std::string rate_label(double per_second);

/// Returns the indices of responses, the longest mean time first. RPCs without a reply, and those that were
/// in flight at the end, count with the time until they ended.
std::vector<std::size_t> slowest_first(const std::vector<responses>&);
/// Returns the responses of each target in all rows together.
std::vector<responses> targets_of_all_rows(const bench_report&);
/// Returns how long all rows were measured, in seconds.
double seconds_of_all_rows(const bench_report&);

} // namespace ibtool
