// SPDX-License-Identifier: MIT
// growing_pause.hpp - the back-off between attempts at an operation that failed before. Does not read a clock.
#pragma once
#include <algorithm>
#include <chrono>
#include <utility>

namespace ibtool {

/// A pause of 0.1 s that doubles with each attempt, up to 10 s.
class growing_pause {
public:
    using duration = std::chrono::nanoseconds;
    static constexpr duration shortest = std::chrono::milliseconds(100), longest = std::chrono::seconds(10);

    /// Returns the pause before the next attempt.
    duration next() noexcept { return std::exchange(pause_, std::min(2 * pause_, longest)); }
    /// Records that an attempt succeeded, and that its result lasted for `length`. A short success does not reset the pause: otherwise a
    /// device that fails immediately after each success would be opened all the time.
    void succeeded_for(duration length) noexcept {
        if (length >= longest) pause_ = shortest;
    }

private:
    duration pause_ = shortest;
};

} // namespace ibtool
