// SPDX-License-Identifier: MIT
// attempts.hpp - the MADs that were sent and may still be answered, and as many of the others as there is room for: their
// transaction IDs, their order, what became of them. Knows no deadline and no window.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/message.hpp>
#include <comad/mad/rtt_estimator.hpp>
#include <comad/mad/time.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace comad::mad {
struct op;
}

namespace comad::mad::detail {

/// One MAD of an operation. It stays when the operation has ended: it may still be answered.
struct attempt {
    enum class state : u8 {
        unused,
        blocked, // it has not left yet
        flying,  // sent, and not late
        late,    // its deadline is over, and nothing that was sent after it has been answered: the wire may stand still
        lost,    // its deadline is over, and something that was sent after it has been answered
        returned, // the transport gave it back, or did not take it
        resting,  // answered BUSY; its operation waits
        rested,   // and waits no longer for that
    };

    op* owner;       // null: it ended
    u64 destination; // for rtt_estimator; 0: it is not measured
    u64 sequence;    // in the order of sending
    time_point sent; // while it is timed
    duration wait;   // until it is late
    duration told;   // until the transport forgets it
    reply_pattern reply;
    u32 generation;     // of its transaction ID
    u32 earlier;        // the attempt before it of the same operation
    u32 previous, next; // in the list that it is in
    u32 claimed;        // the destination where it counts itself, because its operation no longer does
    u16 crowd;          // how many MADs were in flight when it was sent, itself included
    rtt_estimator::distance distance;
    state what_became;
    struct facts {
        bool timed = false;        // `sent` is known
        bool refused = false;      // the transport blocked when it was offered
        bool known = false;        // its destination had answered before
        bool alone = false;        // nothing else was in flight to its destination
        bool counted_lost = false; // the window's control was told
        bool strict = false;       // it counts at its destination until the transport forgets it
        bool behind = false;       // an answer that took longer than expected showed that it waits there, behind others
        bool remembered = false;   // it is in that list
    } is;
};

/// Attempts by number. A transaction ID is the number in its low bits and a generation above, another one each time the
/// number is used.
class attempt_table {
public:
    static constexpr u32 none = ~u32{0};

    /// Room for a power of two, at most 2^17. `seed`: the first generation.
    attempt_table(u32 size, u32 seed);

    attempt& operator[](u32 i) noexcept { return all_[i]; }
    const attempt& operator[](u32 i) const noexcept { return all_[i]; }
    u32 size() const noexcept { return static_cast<u32>(all_.size()); }

    /// False: every place is in use by what is still to be waited for.
    bool has_room() const noexcept { return free_ != none || !remembered_.empty(); }
    /// A new one, of a generation of its own; in place of the one that is remembered longest, if there is no other
    /// (`forgotten` is told its number before). Precondition: has_room().
    template <class Forgotten> u32 take(Forgotten forgotten) noexcept {
        if (free_ == none) {
            const u32 oldest = remembered_.front;
            forgotten(oldest);
            recall(oldest);
            release(oldest);
        }
        const u32 i = std::exchange(free_, all_[free_].next);
        ++all_[i].generation;
        return i;
    }
    void release(u32 i) noexcept {
        all_[i].what_became = attempt::state::unused;
        all_[i].next = std::exchange(free_, i);
    }

    u32 tid(u32 i) const noexcept { return all_[i].generation << bits_ | i; }
    /// The attempt with this transaction ID, if it is not forgotten yet; else none.
    u32 find(u32 tid) const noexcept {
        const u32 i = tid & (size() - 1);
        const attempt& a = all_[i];
        const bool is_it = a.what_became != attempt::state::unused && (a.generation << bits_ | i) == tid;
        return is_it ? i : none;
    }

    /// A list of attempts through their links; each is in at most one.
    struct list {
        u32 front = none, back = none;
        bool empty() const noexcept { return front == none; }
    };
    void push_back(list& l, u32 i) noexcept { insert_behind(l, l.back, i); }
    void push_front(list& l, u32 i) noexcept { insert_behind(l, none, i); }
    /// Where its sequence belongs.
    void insert_in_order(list& l, u32 i) noexcept {
        u32 before = l.back;
        while (before != none && all_[before].sequence > all_[i].sequence) before = all_[before].previous;
        insert_behind(l, before, i);
    }
    void unlink(list& l, u32 i) noexcept {
        const attempt& a = all_[i];
        (a.previous == none ? l.front : all_[a.previous].next) = a.next;
        (a.next == none ? l.back : all_[a.next].previous) = a.previous;
    }

    /// Nobody waits for it any more, but if it is answered after all, that is recognised until its place is needed.
    void remember(u32 i) noexcept {
        all_[i].is.remembered = true;
        push_back(remembered_, i);
    }
    void recall(u32 i) noexcept {
        all_[i].is.remembered = false;
        unlink(remembered_, i);
    }

private:
    void insert_behind(list& l, u32 before, u32 i) noexcept {
        attempt& a = all_[i];
        a.previous = before;
        a.next = before == none ? l.front : all_[before].next;
        (a.previous == none ? l.front : all_[a.previous].next) = i;
        (a.next == none ? l.back : all_[a.next].previous) = i;
    }

    std::vector<attempt> all_;
    unsigned bits_;
    u32 free_ = none; // a stack, so that the cache stays warm
    list remembered_; // longest first
};

} // namespace comad::mad::detail
