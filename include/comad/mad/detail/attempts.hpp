// SPDX-License-Identifier: MIT
// attempts.hpp - the attempts that may still be replied to, and as many older ones as the table has space for: their
// transaction IDs, their order and their states. It does not depend on deadlines or on the window.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/rtt_estimator.hpp>
#include <comad/mad/detail/time.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace comad::mad {
struct operation;
}

namespace comad::mad::detail {

/// The state of an attempt. engine_states.hpp has the table of its transitions.
enum class attempt_state : u8 {
    unused,  ///< a free entry of the table
    blocked, ///< not sent yet: the transport would block, or sends are held
    sent,    ///< sent, before its deadline
    late, ///< after its deadline; no later attempt was replied to, so the fabric may be stalled. It still counts in the window
    lost, ///< after its deadline; a later attempt was replied to, a stall is over, or its timeout came from the caller
    returned,    ///< the transport reported that the send expired, or rejected it, or it expects no reply
    backing_off, ///< the peer replied BUSY, and the operation waits before the next attempt
    backed_off,  ///< this wait is over, and the next attempt has not started
};

/// Facts about an attempt.
struct attempt_flags {
    bool timed = false;                  // `sent_at` is valid
    bool blocked_before = false;         // the transport would have blocked when it was offered
    bool known_destination = false;      // its destination had replied before
    bool alone_at_destination = false;   // no other request to its destination was in flight
    bool counted_lost = false;           // window_control has counted it as lost
    bool counts_until_forgotten = false; // it counts at its destination until the transport drops it
    bool queued_at_peer = false;         // a reply that took longer than expected showed that its peer still queues it
    bool remembered = false;             // it is in the list of remembered attempts
};

/// One transmission of a request. It stays in the table after its operation has ended, because it may still be replied to.
struct attempt {
    operation* owner;           // null: the operation has ended
    u64 destination;            // the key for rtt_estimator; 0: its timeout came from the caller
    u64 sequence;               // its number, in the order of sending
    time_point sent_at;         // only while flags.timed
    duration timeout;           // from sending until it is late
    duration transport_timeout; // from sending until the transport drops it
    reply_pattern reply;
    u32 generation;        // of its transaction ID
    u32 earlier;           // the previous attempt of the same operation
    u32 previous, next;    // in its list
    u32 claimed;           // the destination at which it counts by itself, because its operation no longer does
    u16 in_flight_at_send; // MADs in flight when it was sent, including this one
    rtt_estimator::distance distance;
    attempt_state state;
    attempt_flags flags;
};

/// The attempts, by index. A transaction ID has the index in its low bits and a generation above them. Each use of an entry has a
/// generation of its own.
class attempt_table {
public:
    static constexpr u32 none = ~u32{0};

    /// `size`: number of entries, a power of two, at most 2^17. `seed`: the first generation.
    attempt_table(u32 size, u32 seed);

    attempt& operator[](u32 i) noexcept { return all_[i]; }
    const attempt& operator[](u32 i) const noexcept { return all_[i]; }
    u32 size() const noexcept { return static_cast<u32>(all_.size()); }

    /// False: every entry is in use by an attempt that the engine still waits for.
    bool has_room() const noexcept { return free_ != none || !remembered_.empty(); }
    /// Returns a free entry with a new generation. If there is none, it reuses the attempt that was remembered longest, and calls
    /// `forgotten` with its index before. Precondition: has_room().
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
        all_[i].state = attempt_state::unused;
        all_[i].next = std::exchange(free_, i);
    }

    u32 tid(u32 i) const noexcept { return all_[i].generation << bits_ | i; }
    /// The attempt with this transaction ID; none: there is no such attempt, or its entry was reused.
    u32 find(u32 tid) const noexcept {
        const u32 i = tid & (size() - 1);
        const attempt& a = all_[i];
        const bool is_it = a.state != attempt_state::unused && (a.generation << bits_ | i) == tid;
        return is_it ? i : none;
    }

    /// An intrusive list: the links are in the attempts themselves. An attempt is in at most one list.
    struct list {
        u32 front = none, back = none;
        bool empty() const noexcept { return front == none; }
    };
    void push_back(list& l, u32 i) noexcept { insert_after(l, l.back, i); }
    void push_front(list& l, u32 i) noexcept { insert_after(l, none, i); }
    /// Inserts it in the order of `sequence`.
    void insert_in_order(list& l, u32 i) noexcept {
        u32 before = l.back;
        while (before != none && all_[before].sequence > all_[i].sequence) before = all_[before].previous;
        insert_after(l, before, i);
    }
    void unlink(list& l, u32 i) noexcept {
        const attempt& a = all_[i];
        (a.previous == none ? l.front : all_[a.previous].next) = a.next;
        (a.next == none ? l.back : all_[a.next].previous) = a.previous;
    }

    /// The engine no longer waits for it. Until its entry is reused, a reply to it is recognized as a spurious loss.
    void remember(u32 i) noexcept {
        all_[i].flags.remembered = true;
        push_back(remembered_, i);
    }
    void recall(u32 i) noexcept {
        all_[i].flags.remembered = false;
        unlink(remembered_, i);
    }

private:
    void insert_after(list& l, u32 before, u32 i) noexcept {
        attempt& a = all_[i];
        a.previous = before;
        a.next = before == none ? l.front : all_[before].next;
        (a.previous == none ? l.front : all_[a.previous].next) = i;
        (a.next == none ? l.back : all_[a.next].previous) = i;
    }

    std::vector<attempt> all_;
    unsigned bits_;
    u32 free_ = none; // a stack, so that the cache stays warm
    list remembered_; // the longest remembered one first
};

} // namespace comad::mad::detail
