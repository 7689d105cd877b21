// SPDX-License-Identifier: MIT
// deadlines.cpp - keeps the deadlines of the engine's attempts: one list of slots for each rounded timeout.
#include <comad/mad/detail/deadlines.hpp>

#include <algorithm>
#include <bit>

namespace comad::mad::detail {

// Returns the list of a timeout. A timeout of n octaves and m of 32 steps is (32 + m) << (n - 5) nanoseconds.
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

deadlines::deadlines(unsigned slots) : slots_(slots), nodes_(slots + lists) {
    for (u32 i = 0; i < nodes_.size(); ++i) nodes_[i].previous = nodes_[i].next = i;
}

template <class Visit> void deadlines::list_set::find(Visit visit) {
    for (u32 words = words_; words; words &= words - 1) {
        const auto word = static_cast<unsigned>(std::countr_zero(words));
        for (u64 bits = bits_[word]; bits; bits &= bits - 1) {
            if (visit(word * 64 + static_cast<unsigned>(std::countr_zero(bits)))) return;
        }
    }
}

void deadlines::set_now(time_point now) noexcept {
    fresh_.find([&](unsigned list) {
        fresh_.clear(list);
        u32 i = nodes_[slots_ + list].previous;
        if (i == slots_ + list) return false; // all slots of the list were disarmed
        for (; i < slots_ && nodes_[i].start == unstarted; i = nodes_[i].previous) nodes_[i].start = now;
        filled_.set(list);
        earliest_ = std::min(earliest_, now + timeout_of(list));
        return false;
    });
}

time_point deadlines::earliest() const noexcept {
    assert(fresh_.empty() && "set the time after arming a timeout");
    return earliest_;
}

u32 deadlines::expire(time_point now) noexcept {
    u32 expired = no_slot;
    if (now < earliest_) return expired;
    earliest_ = time_point::max();
    filled_.find([&](unsigned list) {
        const u32 first = nodes_[slots_ + list].next;
        if (first >= slots_) {
            filled_.clear(list);
            return false;
        }
        const time_point deadline = nodes_[first].start + timeout_of(list);
        earliest_ = std::min(earliest_, deadline);
        if (deadline > now) return false;
        expired = first;
        disarm(first); // more slots of the list may be due, so the next call checks it again
        return true;
    });
    return expired;
}

} // namespace comad::mad::detail
