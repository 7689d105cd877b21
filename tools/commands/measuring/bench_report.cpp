// SPDX-License-Identifier: MIT
// bench_report.cpp - puts the results of bench in order.
#include "commands/measuring/bench_report.hpp"

#include <comad/mad/path_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

namespace ibtool {

rpc_names names_of_load(const bench_report& r) {
    if (r.rpcs.size() == 1) return r.rpcs.front();
    std::string all;
    for (std::size_t i = 0; i < r.rpcs.size(); ++i)
        all += fmt::format("{}{} {}", i ? ", " : "", r.what.rpcs[i].weight, text_of(r.rpcs[i]));
    return {"mix", all};
}

std::string path_of(const bench_report& r, std::size_t target) {
    return mad::spec_string(without_keys(r.what.targets[target]));
}

std::string arrivals_text(const bench_report& r) {
    if (!r.is_open()) return {};
    return r.arrivals == arrival_process::poisson ? "poisson" : "constant";
}

std::vector<std::string> payloads_of(const bench_report& r) {
    std::vector<std::string> all;
    for (const load_rpc& rpc : r.what.rpcs) {
        std::size_t size = rpc.payload.size();
        while (size > 0 && rpc.payload[size - 1] == 0) --size;
        all.push_back(fmt::format("0x{:02x}", fmt::join(std::span(rpc.payload).first(size), "")));
    }
    return all;
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
