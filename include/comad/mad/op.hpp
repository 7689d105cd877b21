// SPDX-License-Identifier: MIT
// op.hpp - one MAD operation as the engine sees it. Intrusive: it lives in whatever waits for it (a coroutine frame,
// a completion handler), so that a MAD costs no allocation. Knows no coroutine.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/rtt_estimator.hpp>
#include <comad/mad/time.hpp>
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::mad {

struct op;

/// How an operation ended.
enum class completion_status : u8 {
    replied,          ///< a reply that matches the request; its status is not judged here
    sent,             ///< an operation without reply left
    timed_out,        ///< every attempt expired
    send_failed,      ///< the transport refused it: `error`
    transport_failed, ///< the transport is gone: `error`
    cancelled,
};

struct completion {
    completion_status what;
    u16 attempts;                ///< how often it was sent
    int error = 0;               ///< errno of send_failed and transport_failed
    std::span<const u8> reply{}; ///< of `replied`: the MAD, wire order; valid during the call only
    source_address source{};     ///< of `replied`
};

/// A doubly linked queue that is threaded through the operations themselves.
class op_queue {
public:
    bool empty() const noexcept { return !head_; }
    op* front() const noexcept { return head_; }
    void push_back(op&) noexcept;
    void push_front(op&) noexcept;
    void remove(op&) noexcept;
    op* pop_front() noexcept {
        op* first = head_;
        if (first) remove(*first);
        return first;
    }

private:
    op* head_ = nullptr;
    op* tail_ = nullptr;
};

/// The submitter fills the first block and keeps the object in place until `done` was called or the engine
/// `withdraw`s it; the engine owns the second block.
struct op {
    /// Writes the whole 256-byte request, transaction ID excepted, into zeroed or used memory. Called for every attempt,
    /// when it is offered to the transport; writes the same bytes each time.
    void (*encode)(op&, u8* mad) = nullptr;
    /// The end. Called once, never from inside engine::submit or engine::cancel; may destroy the op, submit others.
    void (*done)(op&, const completion&) = nullptr;
    const any_path* path = nullptr; ///< for the transport
    u64 destination = 0;            ///< who is asked: operations with equal keys share a bound and what was measured;
                                    ///< 0: nobody in particular, unbounded
    u16 destination_bound = 0;      ///< of them in flight at a time; 0: engine_options::per_destination
    /// Whoever is there counts every MAD that it did not answer yet, as kernels do with requests to the SA: against
    /// destination_bound each attempt counts until it is answered, given back, or the transport has forgotten it.
    bool counts_attempts = false;
    rtt_estimator::distance distance = 0; ///< how far away it is; matters only without a timeout
    /// Per attempt. 0: as long as answers from there take (rtt_estimator.hpp), and attempts are repeated as often as it
    /// needs, while earlier ones are still accepted: for Gets alone, of which two may be under way. Then the
    /// operation has a destination.
    duration timeout{};
    /// With a timeout: the wait doubles after every second attempt, up to this. 0: every attempt waits for `timeout`.
    duration longest_timeout{};
    /// Without a timeout: how long the target may be silent, before it is given up, if that is shorter than
    /// patience_options say; then fewer attempts are enough. No less than three times the longest round trip lately. 0: as
    /// they say.
    duration patience{};
    u8 retries = 0;      ///< attempts after the first, with a timeout
    u8 busy_retries = 0; ///< attempts after replies that say BUSY, each after a longer pause; with none
                         ///< left such a reply ends the operation like any other
    bool expects_reply = true;
    static constexpr u16 unbounded = 0xffff; ///< a destination_bound
    bool takes_table = false;                ///< a reply may be longer than a MAD: put together from several (IBA 13.6)

    enum class place : u8 {
        nowhere,
        waiting,         // for its first attempt
        parked,          // the same, for its destination
        in_flight,       // attempts were begun
        repeating,       // the same, and the next attempt waits for a place
        ready,           // ended, waits for run_ready
        ready_in_flight, // the same, and its attempts are not given away yet
    };
    place where = place::nowhere;
    // What follows has a meaning, and a value, only while it is pending.
    completion_status ready_as;
    u8 busy_replies;
    bool is_known;      // its destination answered before, and was not given up since
    bool is_silent;     // it was given up
    bool wants_attempt; // its latest attempt is late, and it has more
    bool has_begun;     // `begun` is known
    u16 attempts;       // begun
    u16 sent;           // of these, that the transport took
    int error;
    u32 latest;                 // its latest attempt
    u32 destination_index;      // of its destination, if that is bounded
    time_point begun;           // when its first attempt was sent, later by the time that it waited for places since
    time_point repeating_since; // while it is repeating
    duration deadline;          // of the first attempt, if it is measured
    op* previous;
    op* next;

    op() = default;
    op(const op&) = delete;
    op& operator=(const op&) = delete;
};

inline void op_queue::push_back(op& o) noexcept {
    o.next = nullptr;
    o.previous = tail_;
    (tail_ ? tail_->next : head_) = &o;
    tail_ = &o;
}
inline void op_queue::push_front(op& o) noexcept {
    o.previous = nullptr;
    o.next = head_;
    (head_ ? head_->previous : tail_) = &o;
    head_ = &o;
}
inline void op_queue::remove(op& o) noexcept {
    (o.previous ? o.previous->next : head_) = o.next;
    (o.next ? o.next->previous : tail_) = o.previous;
}

} // namespace comad::mad
