// SPDX-License-Identifier: MIT
// send_rate.hpp - limits the MADs per second (generic cell rate algorithm, ITU-T I.371). It does not depend on a clock.
#pragma once
#include <comad/mad/detail/time.hpp>

#include <algorithm>

namespace comad::mad::detail {

/// A limit of MADs per second.
class send_rate {
public:
    /// 0: no limit.
    explicit send_rate(unsigned per_second) noexcept
        : interval_(per_second ? duration(std::chrono::seconds(1)) / per_second : duration{0}),
          tolerance_(std::max(burst_time - interval_, duration{0})) {}

    bool is_open(time_point now) const noexcept { return interval_.count() == 0 || due_ - now <= tolerance_; }
    /// The time at which it will be open; time_point::max() if it is open now.
    time_point opens_at(time_point now) const noexcept { return is_open(now) ? time_point::max() : due_ - tolerance_; }
    void sent(time_point now) noexcept {
        if (interval_.count() != 0) due_ = std::max(due_, now) + interval_;
    }

private:
    /// MADs of this time may be sent at once, because timers are late and drivers handle several messages in a row.
    static constexpr duration burst_time = std::chrono::milliseconds(1);

    duration interval_, tolerance_; // tolerance_: how early a MAD may be sent
    time_point due_{};              // time of the next MAD at an exact rate
};

} // namespace comad::mad::detail
