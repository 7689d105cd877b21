// SPDX-License-Identifier: MIT
// periods.hpp - what is to be done at the beginning of each period, and how often it was not. Knows no clock.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <algorithm>
#include <chrono>

namespace comad::coro {

/// Periods of one length, > 0, that follow each other from the first one's beginning. Times are of one steady clock.
class periods {
public:
    using time_point = mad::time_point;

    explicit periods(std::chrono::nanoseconds length) : length_(length) {}

    /// The first period begins.
    void begin(time_point now) noexcept {
        begin_ = now;
        next_ = 0;
    }
    /// What had to be done in it is done.
    void done() noexcept { ++next_; }
    /// When the next one that counts begins: the first that is neither done nor given up.
    time_point next() const noexcept { return begin_ + next_ * length_; }

    /// Gives up those that began already. Gives their number.
    u64 skip_begun(time_point now) noexcept { return skip_to((now - begin_) / length_ + 1); }
    /// Gives up those that are over already.
    u64 skip_over(time_point now) noexcept { return skip_to((now - begin_) / length_); }

private:
    using number = std::chrono::nanoseconds::rep;
    u64 skip_to(number index) noexcept {
        const number skipped = std::max(number{0}, index - next_);
        next_ += skipped;
        return static_cast<u64>(skipped);
    }

    std::chrono::nanoseconds length_;
    time_point begin_{};
    number next_ = 0;
};

} // namespace comad::coro
