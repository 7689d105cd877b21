// SPDX-License-Identifier: MIT
// deadlines.cpp - lists of slots by rounded timeout.
#include <comad/mad/deadlines.hpp>

#include <algorithm>
#include <bit>
#include <cassert>

namespace comad::mad {

// A timeout of n octaves and m of 32 steps is (32 + m) << (n - 5) nanoseconds.
unsigned deadlines::list_of(duration timeout) noexcept {
    constexpr u64 shortest = u64{1} << first_octave;
    constexpr u64 longest = (u64{2 * steps - 1}) << (first_octave + octaves - 1 - 5);
    u64 ns = std::clamp<u64>(timeout.count() < 0 ? 0 : static_cast<u64>(timeout.count()), shortest, longest);
    const unsigned octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
    const u64 step = u64{1} << (octave - 5);
    ns += step - 1; // may carry into the next octave, whose first list is the right one
    const unsigned rounded_octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
    const auto mantissa = static_cast<unsigned>(ns >> (rounded_octave - 5)) - steps;
    return (rounded_octave - first_octave) * steps + mantissa;
}

duration deadlines::timeout_of(unsigned list) noexcept {
    return duration{static_cast<duration::rep>(u64{steps + list % steps} << (first_octave + list / steps - 5))};
}

duration deadlines::rounded(duration timeout) noexcept { return timeout_of(list_of(timeout)); }

void deadlines::append(u32 slot, u16 index) noexcept {
    list& l = lists_[index];
    node& n = nodes_[slot];
    n.list = index;
    n.previous = l.tail;
    n.next = no_slot;
    (l.tail == no_slot ? l.head : nodes_[l.tail].next) = slot;
    l.tail = slot;
}

void deadlines::arm(u32 slot, duration timeout) noexcept {
    assert(!armed(slot));
    nodes_[slot].timeout = static_cast<u16>(list_of(timeout));
    append(slot, unstarted);
}

void deadlines::disarm(u32 slot) noexcept {
    node& n = nodes_[slot];
    if (n.list == no_list) return;
    list& l = lists_[n.list];
    (n.previous == no_slot ? l.head : nodes_[n.previous].next) = n.next;
    (n.next == no_slot ? l.tail : nodes_[n.next].previous) = n.previous;
    if (l.head == no_slot && n.list != unstarted) filled_[n.list / 64] &= ~(u64{1} << n.list % 64);
    n.list = no_list;
}

void deadlines::set_now(time_point now) noexcept {
    for (u32 slot; (slot = lists_[unstarted].head) != no_slot;) {
        disarm(slot);
        node& n = nodes_[slot];
        n.deadline = now + timeout_of(n.timeout);
        append(slot, n.timeout);
        filled_[n.timeout / 64] |= u64{1} << n.timeout % 64;
        earliest_ = std::min(earliest_, n.deadline);
    }
}

time_point deadlines::earliest() const noexcept {
    assert(lists_[unstarted].head == no_slot && "no time was told since the last timeout was armed");
    return earliest_;
}

u32 deadlines::expire(time_point now) noexcept {
    if (now < earliest_) return no_slot;
    earliest_ = time_point::max();
    for (unsigned word = 0; word < filled_.size(); ++word) {
        for (u64 bits = filled_[word]; bits; bits &= bits - 1) {
            const list& l = lists_[word * 64 + static_cast<unsigned>(std::countr_zero(bits))];
            const time_point due = nodes_[l.head].deadline;
            if (due <= now) {
                const u32 slot = l.head;
                disarm(slot);
                earliest_ = due; // others may be due as well: look again next time
                return slot;
            }
            earliest_ = std::min(earliest_, due);
        }
    }
    return no_slot;
}

} // namespace comad::mad
