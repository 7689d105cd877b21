// SPDX-License-Identifier: MIT
// rtt_estimator.hpp - estimates round-trip times from past replies: the deadlines of the next requests, the part of a round trip
// that is queueing, and which destinations are unresponsive. It does not depend on MADs or on a clock. It does constant work,
// and no allocation, per reply.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/patience.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace comad::mad {

/// An RTT estimator like that of TCP (RFC 6298), for each destination, and for each distance for destinations that never
/// replied. Each attempt has a transaction ID of its own, so a reply identifies its attempt, and retries give samples too
/// (TCP cannot use them: Karn's algorithm).
class rtt_estimator {
public:
    /// How far away a destination is, as far as the round-trip time depends on it: the hops of a directed route, or one value for
    /// each group of management classes.
    using distance = u8;
    static constexpr distance most_distance = 127;
    /// Distances up to this one are hops, so round trips grow with them.
    static constexpr distance most_hops = 63;

    /// `timer_resolution`: that of the transport's clock. Deadlines leave at least this margin.
    rtt_estimator(const patience_options&, duration timer_resolution);

    struct expectation {
        duration deadline; ///< retry interval after a first attempt
        duration patience; ///< time limit of all attempts together
        bool known;        ///< the destination has replied before, and was not given up since
        bool unresponsive; ///< the latest request to it was given up
    };
    expectation expect(u64 destination, distance) const noexcept;

    /// Adds the sample of one reply. `few_in_flight`: few MADs were in flight during the whole round trip. Returns the baseline: the
    /// round-trip time with few MADs in flight, as far as it is known.
    duration answered(u64 destination, distance, duration round_trip_time, bool few_in_flight) noexcept;
    /// Replies of several destinations arrived later than expected by this time, and none arrived in between, so the link or
    /// this process was stalled. Deadlines leave a larger margin from now on.
    void on_stall(duration late) noexcept;
    /// A spurious loss: the reply to an attempt arrived after the attempt was declared lost. Deadlines leave a larger margin from now on.
    void on_spurious_loss() noexcept;
    /// Adds the sample of one reply to a Set. It does not count as a round trip, because nodes may take longer to change something
    /// than to report it. `destination` 0: unknown.
    void set_answered(u64 destination, duration round_trip_time) noexcept;
    /// Retry interval after the first attempt of a Set: eight deadlines of a Get, at least twice the longest recent round trip of a
    /// Set, and at least patience_options::least_set_timeout. If the destination has not replied yet, neither to a Get nor to a Set, at
    /// least patience_options::first_patience.
    duration set_timeout(u64 destination, distance) const noexcept;
    /// A request to this destination was given up. Requests to it have fewer attempts until it replies.
    void given_up(u64 destination) noexcept;
    bool is_unresponsive(u64 destination) const noexcept;
    /// The longest recent round-trip time of all destinations; 0 without samples.
    duration slowest() const noexcept { return duration(static_cast<duration::rep>(slowest_)); }

private:
    struct estimate {
        float mean = 0; // ns; 0: nothing measured
        float deviation = 0;
        void add(float sample) noexcept;
        float deadline(float margin) const noexcept;
    };
    /// The entry of one destination. Another destination with the same index replaces it; the measured values are then
    /// lost, and the estimate of its distance is used.
    struct target {
        u32 tag = 0;
        bool unresponsive = false;
        bool has_answered_set = false; // it replied to a request that changes something
        bool has_baseline = false;     // a round trip was measured while few MADs were in flight
        estimate measured;
        float shortest = 0; // ns: the baseline, or else the shortest recent round trip; 0: nothing measured
        bool is(u64 destination) const noexcept { return tag == tag_of(destination); }
    };
    struct at_distance {
        estimate measured;
        float shortest = 0; // shortest of all targets
        float spread = 0;   // a usual baseline as a multiple of the shortest; 0: not known
    };
    static u32 tag_of(u64 destination) noexcept { return static_cast<u32>(destination >> 32) | 1; }
    static constexpr std::size_t places = std::size_t{1} << 14;
    const target& target_of(u64 destination) const noexcept { return targets_[destination & (places - 1)]; }
    target& claim(u64 destination) noexcept;
    float unmeasured(distance) const noexcept;
    float baseline(target&, at_distance&, float round_trip_time, bool few_in_flight) noexcept;

    patience_options options_;
    float timer_resolution_; // ns
    float margin_;           // ns: the least that a deadline leaves beyond the mean
    float slowest_ = 0;      // ns
    float slowest_set_ = 0;  // ns
    float spread_ = 1;       // of all distances
    std::vector<target> targets_;
    std::array<at_distance, most_distance + 1> distances_{};
};

} // namespace comad::mad
