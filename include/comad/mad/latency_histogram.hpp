// SPDX-License-Identifier: MIT
// latency_histogram.hpp - percentiles of millions of round-trip times. It does not depend on MADs.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <vector>

namespace comad::mad {

/// Counts times in buckets, 128 for each power of two, so that add() does not allocate. percentile() returns the
/// largest time in the bucket of the percentile. It is a time that occurred, less than 0.8 % above the exact
/// percentile, and exact if all times are equal. The size is 70 kB.
class latency_histogram {
public:
    latency_histogram();

    /// Adds one time.
    void add(duration) noexcept;
    /// Returns the number of times.
    u64 count() const noexcept { return count_; }
    /// Returns the time that `percent` of 100 times do not exceed. Precondition: count() is not 0; 0 < percent <= 100.
    duration percentile(double percent) const noexcept;

private:
    struct bucket {
        u64 count = 0;
        duration largest{0};
    };
    std::vector<bucket> buckets_;
    u64 count_ = 0;
};

} // namespace comad::mad
