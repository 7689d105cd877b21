// SPDX-License-Identifier: MIT
// relay_buffer.hpp - a bounded queue in front of one server: when a MAD that comes has been served, and whether there was a
// place for it. Knows no MAD and no clock.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

namespace comad::test {

/// MADs are served one after the other, in the order in which they came, each for the same time. It stands for the SMI of a
/// switch that all of a directed route pass, requests and replies alike (IBA 14.2.2): whoever sends them shares its places,
/// VL 15 has no flow control, and who finds all places taken is lost.
class relay_buffer {
public:
    using time_point = std::chrono::steady_clock::time_point;

    struct place {
        time_point served; ///< when the MAD goes on
        unsigned held;     ///< with it
    };

    /// `places`: of those that wait and the one that is served; 0: any number.
    relay_buffer(unsigned places, std::chrono::nanoseconds service_time) noexcept
        : places_(places), service_time_(service_time) {}

    /// For a MAD that comes now; nothing where all places are taken. `now` never goes back.
    std::optional<place> take(time_point now) noexcept {
        const unsigned before = held(now);
        if (places_ != 0 && before >= places_) return {};
        idle_from_ = std::max(idle_from_, now) + service_time_;
        return place{idle_from_, before + 1};
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
