// SPDX-License-Identifier: MIT
// deadlines.hpp - which slot expires next, in constant work per arm and disarm. Knows slots only by number.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/time.hpp>

#include <array>
#include <vector>

namespace comad::mad {

/// Timeouts are rounded up to 32 steps per octave (at most 3.2 %), and every distinct rounded timeout has a list of its
/// own. Time only moves forward, so each list is sorted by construction: arming appends, disarming unlinks. The
/// earliest deadline is kept as a lower bound that only `expire` makes exact again, which costs at most one idle
/// wake-up per timeout and nothing per MAD.
/// A timeout counts from the first time that is told after it was armed: the last one before may be long past, if the
/// clock was not read since (nobody drove the schedule, or a task computed), and then it would expire at once.
class deadlines {
public:
    /// For slots 0..slots-1.
    explicit deadlines(unsigned slots) : nodes_(slots) {}

    /// `slot` expires `timeout` after the next set_now() (rounded up; 1 us to about 36 minutes). Precondition: not armed.
    void arm(u32 slot, duration timeout) noexcept;
    void disarm(u32 slot) noexcept;
    bool armed(u32 slot) const noexcept { return nodes_[slot].list != no_list; }

    /// Starts what was armed since the last call. Precondition: `now` is not earlier than it was then.
    void set_now(time_point now) noexcept;

    /// No deadline is earlier than this; time_point::max() when nothing is armed. Precondition: set_now() since arm().
    time_point earliest() const noexcept;

    /// Disarms one slot that is due at `now` and returns it, or no_slot; then `earliest()` is exact for what is started.
    u32 expire(time_point now) noexcept;
    static constexpr u32 no_slot = ~u32{0};

    /// The timeout that is kept when `timeout` is asked for.
    static duration rounded(duration timeout) noexcept;

private:
    static constexpr unsigned steps = 32, first_octave = 10, octaves = 31, lists = octaves * steps;
    static constexpr u16 unstarted = lists, no_list = 0xffff;
    struct node {
        time_point deadline;
        u32 previous, next;
        u16 list = no_list;
        u16 timeout; // its list once it is started
    };
    struct list {
        u32 head = no_slot, tail = no_slot;
    };
    static unsigned list_of(duration timeout) noexcept;
    static duration timeout_of(unsigned list) noexcept;
    void append(u32 slot, u16 index) noexcept;

    std::vector<node> nodes_;
    std::array<list, lists + 1> lists_{};         // the last: of those that are not started
    std::array<u64, (lists + 63) / 64> filled_{}; // one bit per list that is not empty, the last list apart
    time_point earliest_ = time_point::max();
};

} // namespace comad::mad
