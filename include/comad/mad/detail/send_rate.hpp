// SPDX-License-Identifier: MIT
// send_rate.hpp - at most so many MADs per second (the generic cell rate algorithm of ITU-T I.371). Knows no clock.
#pragma once
#include <comad/mad/detail/time.hpp>

#include <algorithm>

namespace comad::mad::detail {

class send_rate {
public:
    /// 0: any number.
    explicit send_rate(unsigned per_second) noexcept
        : interval_(per_second ? duration(std::chrono::seconds(1)) / per_second : duration{0}),
          tolerance_(std::max(burst_time - interval_, duration{0})) {}

    bool is_open(time_point now) const noexcept { return interval_.count() == 0 || due_ - now <= tolerance_; }
    /// When it will be open, if it is not now; else time_point::max().
    time_point opens_at(time_point now) const noexcept { return is_open(now) ? time_point::max() : due_ - tolerance_; }
    void sent(time_point now) noexcept {
        if (interval_.count() != 0) due_ = std::max(due_, now) + interval_;
    }

private:
    /// What may be made up for at once: timers are late, and a driver handles several messages in a row.
    static constexpr duration burst_time = std::chrono::milliseconds(1);

    duration interval_, tolerance_; // tolerance_: how long before it is due a MAD may go
    time_point due_{};              // of the next MAD, had they all been sent in time
};

} // namespace comad::mad::detail
