// SPDX-License-Identifier: MIT
// latency_histogram.cpp - counts round-trip times in buckets, whose sizes are logarithmic.
#include <comad/mad/latency_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace comad::mad {

namespace {

constexpr unsigned precision = 7;    // bits after the highest one that select a bucket
constexpr unsigned highest_bit = 44; // highest bit of a time: nearly five hours; longer times are in the last bucket

/// Returns the bucket of a time. Up to 255 ns, each nanosecond has a bucket; above, each power of two has 128 buckets.
constexpr std::size_t bucket_of(u64 ns) noexcept {
    const unsigned bits = static_cast<unsigned>(std::bit_width(ns));
    if (bits <= precision + 1) return static_cast<std::size_t>(ns);
    const unsigned shift = bits - precision - 1;
    return (std::size_t{shift} << precision) + static_cast<std::size_t>(ns >> shift);
}
constexpr u64 longest = (u64{1} << highest_bit) - 1;
static_assert(bucket_of(255) == 255 && bucket_of(256) == 256 && bucket_of(258) == 257 && bucket_of(512) == 384);

} // namespace

latency_histogram::latency_histogram() : buckets_(bucket_of(longest) + 1) {}

void latency_histogram::add(duration time) noexcept {
    const auto ns = static_cast<u64>(std::max<duration::rep>(0, time.count()));
    bucket& b = buckets_[bucket_of(std::min(ns, longest))];
    ++b.count;
    b.largest = std::max(b.largest, time);
    ++count_;
}

duration latency_histogram::percentile(double percent) const noexcept {
    const u64 rank =
        std::clamp<u64>(static_cast<u64>(std::ceil(percent / 100 * static_cast<double>(count_))), 1, count_);
    u64 seen = 0;
    for (const bucket& b : buckets_) {
        seen += b.count;
        if (seen >= rank) return b.largest;
    }
    return duration::max();
}

} // namespace comad::mad
