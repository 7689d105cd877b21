// SPDX-License-Identifier: MIT
// latency_histogram.hpp - round-trip times by the million, for their percentiles. Knows no MAD.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <vector>

namespace comad::mad {

/// Counts times in buckets, 128 for each power of two, so that adding one allocates nothing. A percentile is the largest
/// time of the bucket that it falls into: one that occurred, less than 0.8 % above the exact one, which it is where all times
/// are the same. 70 kB.
class latency_histogram {
public:
    latency_histogram();

    void add(duration) noexcept;
    u64 count() const noexcept { return count_; }
    /// The time that `percent` of 100 do not exceed. Precondition: there is one; 0 < percent <= 100.
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
