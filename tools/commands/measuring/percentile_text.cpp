// SPDX-License-Identifier: MIT
// percentile_text.cpp - a distribution in HdrHistogram's text format for percentiles, which its plotters read.
#include "comad.hpp"
#include "commands/measuring/bench_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace ibtool {
namespace {

constexpr unsigned ticks_per_half = 5;
constexpr unsigned sub_buckets = 256; // of latency_histogram: up to 255 ns, each nanosecond has a bucket

double us_of(mad::duration time) { return static_cast<double>(time.count()) / 1e3; }

/// Returns how many ranges, each twice as large as the one before, cover a time.
int buckets_up_to(mad::duration time) {
    return std::max(1, static_cast<int>(std::bit_width(static_cast<u64>(time.count()))) - 7);
}

/// Returns the percentile of the next line. The steps become half as long with each half of the distance to 100 %.
double next_percentile(double percentile) {
    const double halves = std::floor(std::log2(100 / (100 - percentile))) + 1;
    return percentile + 100 / (ticks_per_half * std::exp2(halves));
}

} // namespace

std::string percentile_text(const mad::latency_histogram& times) {
    std::string text =
        fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    const auto all = static_cast<double>(times.count());
    double percentile = 0, sum = 0;
    u64 count = 0;
    for (const auto& b : times.buckets()) {
        count += b.count;
        sum += static_cast<double>(b.count) * us_of(b.largest);
        while (100 * static_cast<double>(count) / all >= percentile) {
            text += fmt::format("{:12.3f} {:2.12f} {:10} {:14.2f}\n", us_of(b.largest), percentile / 100, count,
                                1 / (1 - percentile / 100));
            percentile = next_percentile(percentile);
            if (count == times.count()) break;
        }
    }
    if (count == 0) return text;
    const double mean = sum / all, longest = us_of(times.buckets().back().largest);
    double squares = 0;
    for (const auto& b : times.buckets())
        squares += static_cast<double>(b.count) * (us_of(b.largest) - mean) * (us_of(b.largest) - mean);
    text += fmt::format("{:12.3f} {:2.12f} {:10}\n", longest, 1.0, count);
    text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", mean, std::sqrt(squares / all));
    text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12}]\n", longest, count);
    text += fmt::format("#[Buckets = {:12}, SubBuckets     = {:12}]\n", buckets_up_to(times.buckets().back().largest),
                        sub_buckets);
    return text;
}

} // namespace ibtool
