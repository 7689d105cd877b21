// SPDX-License-Identifier: MIT
// periods.hpp - periods: calculates the times of a periodic action and counts missed periods. It depends on no clock.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <algorithm>
#include <chrono>

namespace comad::coro {

/// Consecutive periods of equal length, which must be > 0. All times are of one steady clock.
class periods {
public:
    using time_point = mad::time_point;

    explicit periods(std::chrono::nanoseconds length) : length_(length) {}

    /// Starts the first period.
    void begin(time_point now) noexcept {
        begin_ = now;
        next_ = 0;
    }
    /// Marks the action of the current period as done.
    void done() noexcept { ++next_; }
    /// Returns the start of the next period that is neither done nor skipped.
    time_point next() const noexcept { return begin_ + next_ * length_; }

    /// Skips the periods that have ended already. Returns their number. The action of a period that has started, but not
    /// ended, is late and still due.
    u64 skip_over(time_point now) noexcept {
        const number skipped = std::max(number{0}, (now - begin_) / length_ - next_);
        next_ += skipped;
        return static_cast<u64>(skipped);
    }

private:
    using number = std::chrono::nanoseconds::rep;
    std::chrono::nanoseconds length_;
    time_point begin_{};
    number next_ = 0;
};

} // namespace comad::coro
