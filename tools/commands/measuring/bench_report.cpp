// SPDX-License-Identifier: MIT
// bench_report.cpp - puts the results of bench in order.
#include "commands/measuring/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace ibtool {

rpc_names names_of_load(const bench_report& r) {
    if (r.rpcs.size() == 1) return r.rpcs.front();
    std::string all;
    for (std::size_t i = 0; i < r.rpcs.size(); ++i)
        all += fmt::format("{}{} {}", i ? ", " : "", r.what.rpcs[i].weight, text_of(r.rpcs[i]));
    return {"mix", all};
}

std::string rate_label(double per_second) { return fmt::format("{:.10g}", per_second); }

std::vector<std::size_t> slowest_first(const std::vector<responses>& all) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return all[i].mean_of_all(); });
    return order;
}

std::vector<responses> targets_of_all_rows(const bench_report& r) {
    std::vector<responses> all(r.what.targets.size());
    for (const bench_row& row : r.rows)
        for (std::size_t i = 0; i < row.measured.targets.size(); ++i) all[i].add(row.measured.targets[i]);
    return all;
}

double seconds_of_all_rows(const bench_report& r) {
    double seconds = 0;
    for (const bench_row& row : r.rows) seconds += row.measured.seconds;
    return seconds;
}

} // namespace ibtool
