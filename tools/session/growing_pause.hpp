// SPDX-License-Identifier: MIT
// growing_pause.hpp - how long to wait before the next attempt at something that failed before. Knows no clock.
#pragma once
#include <algorithm>
#include <chrono>
#include <utility>

namespace ibtool {

/// 0.1 s, then twice as long each time, up to 10 s.
class growing_pause {
public:
    using duration = std::chrono::nanoseconds;
    static constexpr duration shortest = std::chrono::milliseconds(100), longest = std::chrono::seconds(10);

    duration next() noexcept { return std::exchange(pause_, std::min(2 * pause_, longest)); }
    /// An attempt succeeded, and what it brought has ended after so long. What does not last is no success: else something
    /// that fails as soon as it is there would be tried all the time.
    void succeeded_for(duration length) noexcept {
        if (length >= longest) pause_ = shortest;
    }

private:
    duration pause_ = shortest;
};

} // namespace ibtool
