// SPDX-License-Identifier: MIT
// latency_histogram.hpp - percentiles of millions of round-trip times. It does not depend on MADs.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <span>
#include <vector>

namespace comad::mad {

/// Counts times in buckets, 128 for each power of two. percentile() returns the largest time in the bucket of the
/// percentile. It is a time that occurred, less than 0.8 % above the exact percentile, and exact if all times are
/// equal. Only buckets with times take memory, 16 bytes each, so a histogram has at most 80 kB.
class latency_histogram {
public:
    /// Times that differ by less than 0.8 %.
    struct bucket {
        u64 count = 0;
        duration largest{0};
    };

    latency_histogram();

    /// Adds one time. Allocates only if the time is the first one in a new bucket.
    void add(duration);
    /// Adds all times of another histogram.
    void add(const latency_histogram&);
    /// Returns the number of times.
    u64 count() const noexcept { return count_; }
    /// Returns the time that `percent` of 100 times do not exceed. Precondition: count() is not 0; 0 < percent <= 100.
    duration percentile(double percent) const noexcept;
    /// Returns the buckets that have times, from short to long. Lifetime: until the next add().
    std::span<const bucket> buckets() const noexcept { return buckets_; }

private:
    void add(duration largest, u64 count);

    std::vector<bucket> buckets_; // sorted
    u64 count_ = 0;
};

} // namespace comad::mad
