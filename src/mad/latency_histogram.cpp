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
constexpr u64 longest = (u64{1} << highest_bit) - 1;

/// Returns the bucket of a time. Up to 255 ns, each nanosecond has a bucket; above, each power of two has 128 buckets.
constexpr std::size_t bucket_of(u64 ns) noexcept {
    const unsigned bits = static_cast<unsigned>(std::bit_width(ns));
    if (bits <= precision + 1) return static_cast<std::size_t>(ns);
    const unsigned shift = bits - precision - 1;
    return (std::size_t{shift} << precision) + static_cast<std::size_t>(ns >> shift);
}
static_assert(bucket_of(255) == 255 && bucket_of(256) == 256 && bucket_of(258) == 257 && bucket_of(512) == 384);

std::size_t bucket_of(duration time) noexcept {
    return bucket_of(std::min(static_cast<u64>(std::max<duration::rep>(0, time.count())), longest));
}

} // namespace

latency_histogram::latency_histogram() = default;

void latency_histogram::add(duration time) { add(time, 1); }

void latency_histogram::add(const latency_histogram& other) {
    for (const bucket& b : other.buckets_) add(b.largest, b.count);
}

void latency_histogram::add(duration largest, u64 count) {
    const std::size_t wanted = bucket_of(largest);
    auto at = std::ranges::lower_bound(buckets_, wanted, {}, [](const bucket& b) { return bucket_of(b.largest); });
    if (at == buckets_.end() || bucket_of(at->largest) != wanted) at = buckets_.insert(at, {0, largest});
    at->count += count;
    at->largest = std::max(at->largest, largest);
    count_ += count;
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
