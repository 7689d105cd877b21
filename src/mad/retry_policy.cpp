// SPDX-License-Identifier: MIT
// retry_policy.cpp - computes the number of attempts and the retry interval for a loss rate.
#include <comad/mad/detail/retry_policy.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace comad::mad::detail {
namespace {

/// Returns the number of attempts after which all are lost with a probability of 10^-`exponent`, at this loss rate.
unsigned attempts_until(float exponent, float loss) noexcept {
    constexpr float log_of_ten = 2.302585f;
    return static_cast<unsigned>(std::ceil(-exponent * log_of_ten / std::log(std::clamp(loss, 1e-3f, 0.9f))));
}

} // namespace

// Updates the loss rate: at first the mean of all attempts, later of about the last 256.
void retry_policy::count(float lost) noexcept {
    constexpr float least_weight = 1.0f / 256;
    loss_ += (lost - loss_) * weight_;
    weight_ = std::max(weight_ / (1 + weight_), least_weight);
}

/// Returns whether the loss rate is so high that a few attempts do not suffice.
bool retry_policy::is_lossy() const noexcept { return loss_ > 0.05f; }

unsigned retry_policy::attempts(bool known, bool short_time_limit) const noexcept {
    constexpr unsigned least = 4, least_in_short_time = 3;
    if (known)
        return std::clamp(attempts_until(9, loss_), short_time_limit ? least_in_short_time : least, most_attempts);
    return is_lossy() ? std::clamp(attempts_until(6, loss_), most_to_unknown, most_attempts) : most_to_unknown;
}

// Returns the factor of the retry interval. At a high loss rate, the interval stays short as long as it is likely that all earlier
// attempts were lost. Otherwise it doubles: a cause that outlasts several attempts lasts longer than a round trip.
unsigned retry_policy::backoff(unsigned attempt) const noexcept {
    constexpr unsigned most = 16, per_octave = 3;
    const unsigned likely = is_lossy() ? std::min(attempts_until(4, loss_), most_attempts) : 1;
    const unsigned quick = std::min(attempt, likely);
    const unsigned octaves = (quick - 1) / per_octave + (attempt - quick);
    return octaves < std::bit_width(most) ? 1u << octaves : most;
}

} // namespace comad::mad::detail
