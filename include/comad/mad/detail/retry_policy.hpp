// SPDX-License-Identifier: MIT
// retry_policy.hpp - how often a request is sent, and how soon again, by the share of MADs that gets lost. Knows no MAD, no
// target and no clock.
#pragma once

namespace comad::mad::detail {

class retry_policy {
public:
    /// What became of attempts on targets that answer.
    void count_lost() noexcept { count(1); }
    void count_answered() noexcept { count(0); }
    /// The share that was lost, as far as it was seen lately.
    double loss() const noexcept { return loss_; }

    /// How many attempts an operation has. On a target that answered before, so many that to be lost every time is as
    /// unlikely as 1 in 10^9. One that never did, or no longer does, may have another reason (a wrong M_Key, say), and each
    /// attempt may cost it, and the subnet manager, a trap: it gets three, and more only where more are known to be lost.
    /// `short_time_limit`: it may be given up sooner.
    unsigned attempts(bool known, bool short_time_limit = false) const noexcept;
    static constexpr unsigned most_attempts = 16, most_to_unknown = 3;

    /// More is lost than one MAD in twenty, about.
    bool is_lossy() const noexcept;

    /// How many deadlines to wait for an answer to an attempt (the first is 1).
    unsigned backoff(unsigned attempt) const noexcept;

private:
    void count(float lost) noexcept;

    float loss_ = 0;
    float weight_ = 1; // of the next one
};

} // namespace comad::mad::detail
