// SPDX-License-Identifier: MIT
// deadlines.hpp - finds the slot that expires next, with constant work to arm and to disarm. It knows slots only by
// number.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <cassert>
#include <vector>

namespace comad::mad::detail {

/// The deadlines of all slots. Timeouts are rounded up to 32 steps per octave (at most 3.2 %), and every distinct
/// rounded timeout has its own list. Time only moves forward, so each list is always sorted: arming appends, disarming
/// unlinks. The earliest deadline is a lower bound that only `expire` makes exact. This costs at most one idle wake-up
/// per timeout and nothing per MAD.
///
/// A timeout counts from the first set_now() after arm(). The time of the last set_now() before arm() may be long past if
/// nothing drove the schedule, or a task computed; a timeout that counted from then would expire at once.
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
    /// Returns whether the timeout of the slot counts already. Precondition: armed.
    bool started(u32 slot) const noexcept { return nodes_[slot].start != unstarted; }
    /// Returns the time since which the timeout counts. The value stays valid after disarm(), until the slot is armed
    /// again. Precondition: it was started.
    time_point started_at(u32 slot) const noexcept { return nodes_[slot].start; }

    /// Starts the timeouts of the slots that were armed since the last call. Precondition: `now` is not earlier than
    /// in that call.
    void set_now(time_point now) noexcept;

    /// Returns a time before which no deadline is; time_point::max() if nothing is armed. Precondition: set_now()
    /// since arm().
    time_point earliest() const noexcept;
    /// Returns false if no started slot is due at `now`.
    bool may_be_due(time_point now) const noexcept { return now >= earliest_; }

    /// Disarms one slot that is due at `now` and returns it, or returns no_slot; `earliest()` is then exact for
    /// started slots.
    u32 expire(time_point now) noexcept;
    static constexpr u32 no_slot = ~u32{0};

    /// Returns the timeout that is used for `timeout`.
    static duration rounded(duration timeout) noexcept;

private:
    static constexpr unsigned steps = 32, first_octave = 10, octaves = 31, lists = octaves * steps;
    static constexpr time_point unstarted{duration::max() / 2}; // later than any time, and still safe to add to

    /// A slot, or the ends of a list, which close the list to a ring so that linking needs no conditions. A slot in no
    /// list is its own ring.
    struct node {
        time_point start;
        u32 previous, next;
    };
    /// A set of lists.
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
        /// Calls visit(list) for each list in the set until a call returns true; `visit` may clear the list of the
        /// call.
        template <class Visit> void find(Visit visit);

    private:
        std::array<u64, (lists + 63) / 64> bits_{};
        u32 words_ = 0; // bit n: bits_[n] is not 0
    };
    static unsigned list_of(duration timeout) noexcept;
    static duration timeout_of(unsigned list) noexcept;

    u32 slots_;
    std::vector<node> nodes_; // those of the slots, followed by the ends of the lists
    list_set filled_;         // lists outside of this set are empty
    list_set fresh_;          // lists whose last slots may be unstarted
    time_point earliest_ = time_point::max();
    duration last_timeout_{-1}; // cache: most timeouts are equal to the previous one
    u32 last_list_ = 0;
};

} // namespace comad::mad::detail
