// SPDX-License-Identifier: MIT
// retry_policy.hpp - how many attempts a request has, and how long it waits between them, depending on the loss rate. It does not
// depend on MADs, destinations or a clock.
#pragma once

namespace comad::mad::detail {

/// The loss rate, and the number and interval of attempts that it determines.
class retry_policy {
public:
    /// Counts one attempt to a destination that replies.
    void count_lost() noexcept { count(1); }
    void count_answered() noexcept { count(0); }
    /// The recent loss rate, 0..1.
    double loss() const noexcept { return loss_; }

    /// The number of attempts of an operation. If the destination has replied before, the probability that all of them are lost is
    /// at most 1 in 10^9. If it never replied, or no longer does, the cause may be another one, such as a wrong M_Key, and each
    /// attempt may then cause a trap. Such a destination gets three attempts, and more only if the loss rate is high.
    /// `short_time_limit`: the operation has a shorter time limit than others.
    unsigned attempts(bool known, bool short_time_limit = false) const noexcept;
    static constexpr unsigned most_attempts = 16, most_to_unknown = 3;

    /// More than about one MAD in twenty is lost.
    bool is_lossy() const noexcept;

    /// The factor of the retry interval after an attempt (the first attempt is 1).
    unsigned backoff(unsigned attempt) const noexcept;

private:
    void count(float lost) noexcept;

    float loss_ = 0;
    float weight_ = 1; // of the next attempt
};

} // namespace comad::mad::detail
