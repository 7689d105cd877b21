// SPDX-License-Identifier: MIT
// deadlines.hpp - which slot expires next, in constant work per arm and disarm. Knows slots only by number.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <cassert>
#include <vector>

namespace comad::mad::detail {

/// Timeouts are rounded up to 32 steps per octave (at most 3.2 %), and every distinct rounded timeout has a list of its
/// own. Time only moves forward, so each list is sorted by construction: arming appends, disarming unlinks. The
/// earliest deadline is kept as a lower bound that only `expire` makes exact again, which costs at most one idle
/// wake-up per timeout and nothing per MAD.
/// A timeout counts from the first time that is told after it was armed: the last one before may be long past, if the
/// clock was not read since (nobody drove the schedule, or a task computed), and then it would expire at once.
class deadlines {
public:
    /// For slots 0..slots-1.
    explicit deadlines(unsigned slots);

    /// `slot` expires `timeout` after the next set_now() (rounded up; 1 us to about 36 minutes). Precondition: not armed.
    void arm(u32 slot, duration timeout) noexcept {
        assert(!armed(slot));
        if (timeout != last_timeout_) {
            last_timeout_ = timeout;
            last_list_ = list_of(timeout);
        }
        node& n = nodes_[slot];
        node& end = nodes_[slots_ + last_list_];
        n.start = unstarted;
        n.next = slots_ + last_list_;
        n.previous = end.previous;
        nodes_[n.previous].next = slot;
        end.previous = slot;
        fresh_.set(last_list_);
    }
    /// Does nothing if `slot` is not armed.
    void disarm(u32 slot) noexcept {
        node& n = nodes_[slot];
        nodes_[n.previous].next = n.next;
        nodes_[n.next].previous = n.previous;
        n.previous = n.next = slot;
    }
    bool armed(u32 slot) const noexcept { return nodes_[slot].next != slot; }
    /// Whether its timeout counts already. Precondition: armed.
    bool started(u32 slot) const noexcept { return nodes_[slot].start != unstarted; }
    /// Since when. Also of one that is no longer armed, until it is armed again. Precondition: it was started.
    time_point started_at(u32 slot) const noexcept { return nodes_[slot].start; }

    /// Starts what was armed since the last call. Precondition: `now` is not earlier than it was then.
    void set_now(time_point now) noexcept;

    /// No deadline is earlier than this; time_point::max() when nothing is armed. Precondition: set_now() since arm().
    time_point earliest() const noexcept;
    /// False: nothing is due at `now` of what is started.
    bool may_be_due(time_point now) const noexcept { return now >= earliest_; }

    /// Disarms one slot that is due at `now` and returns it, or no_slot; then `earliest()` is exact for what is started.
    u32 expire(time_point now) noexcept;
    static constexpr u32 no_slot = ~u32{0};

    /// The timeout that is kept when `timeout` is asked for.
    static duration rounded(duration timeout) noexcept;

private:
    static constexpr unsigned steps = 32, first_octave = 10, octaves = 31, lists = octaves * steps;
    static constexpr time_point unstarted{duration::max() / 2}; // later than any time, and can be added to

    /// A slot, or the ends of a list: they make it a ring, so that linking asks no questions. What is in no list is a
    /// ring of its own.
    struct node {
        time_point start;
        u32 previous, next;
    };
    /// Some of the lists.
    class list_set {
    public:
        bool empty() const noexcept { return words_ == 0; }
        void set(unsigned list) noexcept {
            bits_[list / 64] |= u64{1} << list % 64;
            words_ |= 1u << list / 64;
        }
        void clear(unsigned list) noexcept {
            bits_[list / 64] &= ~(u64{1} << list % 64);
            if (bits_[list / 64] == 0) words_ &= ~(1u << list / 64);
        }
        /// Calls visit(list) for each until one is true; it may clear that one.
        template <class Visit> void find(Visit visit);

    private:
        std::array<u64, (lists + 63) / 64> bits_{};
        u32 words_ = 0; // which of bits_ are not 0
    };
    static unsigned list_of(duration timeout) noexcept;
    static duration timeout_of(unsigned list) noexcept;

    u32 slots_;
    std::vector<node> nodes_; // those of the slots, then the ends of the lists
    list_set filled_;         // what is not in it is empty
    list_set fresh_;          // whose last slots may be unstarted
    time_point earliest_ = time_point::max();
    duration last_timeout_{-1}; // most timeouts are like the one before
    u32 last_list_ = 0;
};

} // namespace comad::mad::detail
