// SPDX-License-Identifier: MIT
// rtt_estimator.hpp - how long answers take, learned from those that came: deadlines for the next ones, what of a round trip is
// queueing, and who is silent. Knows no MAD and no clock; constant work and no allocation per answer.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/time.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace comad::mad {

/// What Gets wait for, when nobody gave them a timeout.
struct patience_options {
    duration first_deadline = std::chrono::milliseconds(2); ///< of an attempt, before anything was measured
    duration longest_deadline = std::chrono::seconds(1);    ///< of an attempt, whatever was measured
    /// How long a target that has answered before may be silent, before an operation on it is given up: hosts and switches
    /// that are busy for a moment are not dead. More, up to first_patience, for one that takes long to answer.
    duration patience = std::chrono::milliseconds(250);
    duration first_patience = std::chrono::seconds(1); ///< the same of a target that never answered
    /// The shortest wait for the reply to a Set, whatever was measured: two copies of a Set must not be under way. OpenSM's
    /// transaction_timeout has the same default.
    duration least_set_timeout = std::chrono::milliseconds(200);
};

/// An RTT estimator as TCP has it (RFC 6298), for each destination, and for each distance for destinations that never
/// answered. Every attempt has a transaction ID of its own, so that an answer tells which attempt it is for, and measures
/// also what was repeated (TCP may not: Karn's algorithm).
class rtt_estimator {
public:
    /// Where a target is, as far as it matters for its round trip: hops of a directed route, or one value for each group of
    /// management classes.
    using distance = u8;
    static constexpr distance most_distance = 127;
    /// Distances up to this one are hops: what is farther takes longer.
    static constexpr distance most_hops = 63;

    /// `grain`: what the transport's clock can tell apart; deadlines leave as much room.
    rtt_estimator(const patience_options&, duration grain);

    struct expectation {
        duration deadline; ///< how long to wait for the answer to a first attempt
        duration patience; ///< how long all attempts together have
        bool known;        ///< this destination answered before, and was not given up since
        bool silent;       ///< it was given up
    };
    expectation expect(u64 destination, distance) const noexcept;

    /// An answer, `took` after the attempt that it answers was sent. `uncrowded`: few MADs were in flight all that time. Gives
    /// what it would have taken with few, as far as that can be told: the baseline.
    duration answered(u64 destination, distance, duration took, bool uncrowded) noexcept;
    /// Answers of several targets came later than expected, by so much, and none in between: it was the wire, or this
    /// process. Deadlines leave more room from now on.
    void stalled(duration late) noexcept;
    /// An attempt that was taken for lost was answered after all: the same.
    void was_hasty() noexcept;
    /// A reply to a request that changes something, `took` after the attempt that it answers was sent. It does not count as a
    /// round trip: a node may take longer to change something than to report it. `destination` 0: nobody in particular.
    void acted(u64 destination, duration took) noexcept;
    /// How long to wait for the reply to the first attempt of such a request: eight deadlines of a Get, at least twice the
    /// longest of such replies lately, at least patience_options::least_set_timeout. For a destination that has not answered
    /// yet, neither a Get nor a Set, at least patience_options::first_patience.
    duration set_timeout(u64 destination, distance) const noexcept;
    /// An operation on it was given up. The next ones are tried less often, until it answers.
    void given_up(u64 destination) noexcept;
    bool is_silent(u64 destination) const noexcept;

    /// The longest round trip lately, wherever to; 0 if there was none.
    duration slowest() const noexcept { return duration(static_cast<duration::rep>(slowest_)); }

private:
    struct estimate {
        float mean = 0; // ns; 0: nothing measured
        float deviation = 0;
        void take(float sample) noexcept;
        float deadline(float room) const noexcept;
    };
    /// A place for one destination. Another one that falls on it takes it: what was measured is then lost, and its
    /// distance's estimate serves.
    struct target {
        u32 tag = 0;
        bool silent = false;
        bool has_acted = false;    // it answered a request that changes something
        bool has_baseline = false; // it was measured while few MADs were in flight
        estimate measured;
        float shortest = 0; // ns: the baseline, or else the shortest lately; 0: nothing measured
        bool is(u64 destination) const noexcept { return tag == tag_of(destination); }
    };
    struct at_distance {
        estimate measured;
        float shortest = 0; // of all targets
        float spread = 0;   // a usual baseline as a multiple of the shortest; 0: not known
    };
    static u32 tag_of(u64 destination) noexcept { return static_cast<u32>(destination >> 32) | 1; }
    static constexpr std::size_t places = std::size_t{1} << 14;
    const target& target_of(u64 destination) const noexcept { return targets_[destination & (places - 1)]; }
    target& claim(u64 destination) noexcept;
    float unmeasured(distance) const noexcept;
    float baseline(target&, at_distance&, float took, bool uncrowded) noexcept;

    patience_options options_;
    float grain_;           // ns
    float room_;            // ns: the least that a deadline leaves beyond the mean
    float slowest_ = 0;     // ns
    float slowest_set_ = 0; // ns
    float spread_ = 1;      // of all distances
    std::vector<target> targets_;
    std::array<at_distance, most_distance + 1> distances_{};
};

} // namespace comad::mad
