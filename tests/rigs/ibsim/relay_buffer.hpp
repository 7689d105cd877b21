// SPDX-License-Identifier: MIT
// relay_buffer.hpp - a bounded queue before one server. It computes when each arriving MAD is served, or that the MAD
// is dropped.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

namespace comad::test {

/// A queue with a fixed service time that serves MADs in the order of arrival. It models the SMI of a switch that all
/// directed routes cross. Requests and replies of all senders share its places (IBA 14.2.2). VL 15 has no flow control,
/// so a MAD is lost if all places are in use.
class relay_buffer {
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct queue_slot {
        time_point served; ///< time at which the MAD leaves the queue
        unsigned held;     ///< number of MADs in the queue, including this one
    };

    /// `places`: number of MADs in the queue, including the MAD in service; 0: unlimited.
    relay_buffer(unsigned places, std::chrono::nanoseconds service_time) noexcept
        : places_(places), service_time_(service_time) {}

    /// Adds a MAD that arrives now. Returns an empty value if all places are in use. Precondition: `now` never
    /// decreases.
    std::optional<queue_slot> take(time_point now) noexcept {
        const unsigned before = held(now);
        if (places_ != 0 && before >= places_) return {};
        idle_from_ = std::max(idle_from_, now) + service_time_;
        return queue_slot{idle_from_, before + 1};
    }

private:
    unsigned held(time_point now) const noexcept {
        if (idle_from_ <= now || service_time_ == service_time_.zero()) return 0;
        return static_cast<unsigned>((idle_from_ - now + service_time_ - std::chrono::nanoseconds(1)) / service_time_);
    }

    unsigned places_;
    std::chrono::nanoseconds service_time_;
    time_point idle_from_{};
};

} // namespace comad::test
