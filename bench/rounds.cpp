// SPDX-License-Identifier: MIT
// rounds.cpp - measures variants of the same work in alternating rounds, and prints the medians.
#include "rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace comad::bench {
namespace {

/// The values per request of all rounds. print() sorts them.
struct row {
    std::vector<double> wall_ns, processor_ns, ratio;
    u64 allocations = 0;
    u64 system_calls = 0;
};

usage run_once(const variant& v, u64 requests, unsigned window) {
    workload work(100 + u64{4} * window, requests, window);
    v.run(work, window);
    if (!work.sum_is_right()) throw std::runtime_error(fmt::format("{}: the sum of the replies is wrong", v.name));
    return work.cost();
}

/// Returns the median of sorted values.
double median(const std::vector<double>& values) {
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void print(const variant& v, row& r, double requests, unsigned window) {
    for (auto* values : {&r.wall_ns, &r.processor_ns, &r.ratio}) std::sort(values->begin(), values->end());
    fmt::print("{:<34} {:>6} {:>9.0f} {:>8.0f} {:>7.2f} {:>6.2f}..{:<6.2f} {:>8.3g} {:>8.2f}\n", v.name, window,
               1e9 / median(r.wall_ns), median(r.processor_ns), median(r.ratio), r.ratio.front(), r.ratio.back(),
               static_cast<double>(r.allocations) / requests, static_cast<double>(r.system_calls) / requests);
}

} // namespace

void print_heading(const std::string& title) {
    fmt::print("\n{}\n{:<34} {:>6} {:>9} {:>8} {:>7} {:>14} {:>8} {:>8}\n", title, "per MAD", "window", "MADs/s",
               "CPU ns", "ratio", "min..max", "allocs", "syscalls");
}

u64 measure(const std::vector<variant>& variants, unsigned rounds, u64 requests, unsigned window) {
    const auto count = static_cast<double>(requests);
    std::vector<row> rows(variants.size());
    for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < variants.size(); ++turn) {
            const std::size_t i = (round + turn) % variants.size();
            const usage used = run_once(variants[i], requests, window);
            rows[i].wall_ns.push_back(static_cast<double>(used.wall.count()) / count);
            rows[i].processor_ns.push_back(static_cast<double>(used.processor.count()) / count);
            rows[i].allocations += used.allocations;
            rows[i].system_calls += used.system_calls;
        }
        for (row& r : rows) r.ratio.push_back(r.processor_ns.back() / rows[0].processor_ns.back());
    }
    u64 allocations = 0;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        print(variants[i], rows[i], count * rounds, window);
        allocations += rows[i].allocations;
    }
    return allocations;
}

} // namespace comad::bench
