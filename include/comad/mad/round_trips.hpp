// SPDX-License-Identifier: MIT
// round_trips.hpp - how long answers take, learned from those that came: deadlines for the next ones, and who is silent.
// Knows no MAD and no clock; constant work and no allocation per answer.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/time.hpp>

#include <array>
#include <vector>

namespace comad::mad {

/// What Gets wait for, when nobody gave them a timeout.
struct patience_options {
    duration first_deadline = std::chrono::milliseconds(2); ///< of an attempt, before anything was measured
    duration longest_deadline = std::chrono::seconds(1);    ///< of an attempt, whatever was measured
    /// How long a target has to be silent at least before an operation on it is given up: hosts and switches that are busy
    /// for a moment are not dead.
    duration patience = std::chrono::milliseconds(100);
    duration first_patience = std::chrono::seconds(1); ///< the same where no answer came from so far away yet
};

/// Smoothed round trips and their deviation, as TCP has them (RFC 6298): of each destination, and of each distance for
/// destinations that never answered. Every attempt has a transaction ID of its own, so that an answer tells which attempt
/// it is for, and measures also what was repeated (TCP may not: Karn's algorithm).
class round_trips {
public:
    /// Where a target is, as far as it matters for its round trip: hops of a directed route, or one value for each group of
    /// management classes.
    using distance = u8;
    static constexpr distance most_distance = 127;
    /// Distances up to this one are hops: what is farther takes longer.
    static constexpr distance most_hops = 63;

    /// `grain`: what the transport's clock can tell apart; deadlines leave as much room.
    round_trips(const patience_options&, duration grain);

    struct expectation {
        duration deadline; ///< how long to wait for the answer to a first attempt
        duration patience; ///< the least that all attempts together have to last
        bool known;        ///< this destination answered before, and was not given up since
        bool silent;       ///< it was given up
    };
    expectation expect(u64 destination, distance) const noexcept;
    /// Attempts that an operation needs, so that to be lost every time is as unlikely as 1 in 10^9, by the loss that was seen;
    /// no fewer than `least`: what was seen may be too little.
    unsigned attempts(unsigned least = 6) const noexcept;
    /// No operation has more; on silent ones they are few.
    static constexpr unsigned most_attempts(bool silent) noexcept { return silent ? 4 : 16; }

    /// An answer, `took` after the attempt that it answers was sent.
    void answered(u64 destination, distance, duration took) noexcept;
    /// An operation was answered in the end, after `lost` attempts that were not.
    void count(unsigned lost) noexcept;
    /// An operation on it was given up. The next ones are tried less often, until it answers.
    void given_up(u64 destination) noexcept;

    /// The share of attempts that were lost, as far as it was seen lately.
    double loss() const noexcept { return loss_; }
    /// The longest round trip lately, wherever to; 0 if there was none.
    duration slowest() const noexcept { return duration(static_cast<duration::rep>(slowest_)); }
    /// How much longer an answer took than the quickest lately from this distance; 1 if nothing is known.
    double inflation(distance d, duration took) const noexcept;

private:
    struct estimate {
        float mean = 0; // ns; 0: nothing measured
        float deviation = 0;
        void take(float sample) noexcept;
        float deadline(float grain) const noexcept;
    };
    /// A place for one destination. Another one that falls on it takes it: what was measured is then lost, and its
    /// distance's estimate serves.
    struct target {
        u32 tag = 0;
        bool silent = false;
        estimate measured;
        bool is(u64 destination) const noexcept { return tag == tag_of(destination); }
    };
    struct at_distance {
        estimate measured;
        float quickest = 0;
    };
    static u32 tag_of(u64 destination) noexcept { return static_cast<u32>(destination >> 32) | 1; }
    static constexpr std::size_t places = std::size_t{1} << 14;
    const target& target_of(u64 destination) const noexcept { return targets_[destination & (places - 1)]; }
    target& claim(u64 destination) noexcept;
    float unmeasured(distance) const noexcept;

    patience_options options_;
    float grain_;
    float loss_ = 0;
    float slowest_ = 0; // ns
    std::vector<target> targets_;
    std::array<at_distance, most_distance + 1> distances_{};
};

} // namespace comad::mad
