// SPDX-License-Identifier: MIT
// operation.hpp - one request as the engine handles it. Operations are intrusive: each lives in the object that waits for the
// reply, such as a coroutine frame or a completion handler, so a MAD needs no allocation. This header does not depend on coroutines.
#pragma once
#include <comad/mad/detail/rtt_estimator.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::mad {

struct operation;

/// How an operation ended.
enum class completion_status : u8 {
    replied,          ///< a reply that matches the request arrived; its MAD status can be an error
    sent,             ///< a request that expects no reply was sent
    timed_out,        ///< no reply within the time limit
    send_failed,      ///< the transport rejected the request: `error`
    transport_failed, ///< the transport is disconnected: `error`
    cancelled,
};

/// The end of an operation, as passed to operation::done.
struct completion {
    completion_status what;
    u16 attempts;                ///< number of attempts that were sent
    int error = 0;               ///< errno of send_failed and transport_failed
    std::span<const u8> reply{}; ///< of `replied`: the MAD in wire order. Lifetime: during the call
    source_address source{};     ///< of `replied`
};

/// A doubly linked queue through the operations themselves.
class operation_queue {
public:
    bool empty() const noexcept { return !head_; }
    operation* front() const noexcept { return head_; }
    void push_back(operation&) noexcept;
    void push_front(operation&) noexcept;
    void remove(operation&) noexcept;
    operation* pop_front() noexcept {
        operation* first = head_;
        if (first) remove(*first);
        return first;
    }

private:
    operation* head_ = nullptr;
    operation* tail_ = nullptr;
};

/// The state of an operation. engine_states.hpp has the table of its transitions.
enum class operation_state : u8 {
    idle,            ///< not yet submitted, or already completed or withdrawn
    queued,          ///< waits for space in the window, before its first attempt
    parked,          ///< waits for its destination, which is at its bound, before its first attempt
    in_flight,       ///< has started attempts. Its latest one can be blocked, sent, late, backing off or returned
    retry_queued,    ///< its latest attempt is lost or was returned, and the next one waits for space in the window
    ready,           ///< ended, and waits for run_ready(). It has no attempts
    ready_in_flight, ///< ended, and waits for run_ready(), which detaches its attempts
};

/// One request, its retries and its end. The submitter fills the first block of members, and keeps the object in place until
/// the engine calls `done`, or until engine::withdraw(). The engine owns the second block.
struct operation {
    /// Writes the whole 256-byte request, except the transaction ID. The buffer may contain old bytes. The engine calls this function for
    /// every attempt, when it passes the attempt to the transport. It must write the same bytes each time.
    void (*encode)(operation&, u8* mad) = nullptr;
    /// The end of the operation. The engine calls this function once, but never inside engine::submit or engine::cancel. The function may
    /// destroy the operation, and submit others.
    void (*done)(operation&, const completion&) = nullptr;
    const any_path* path = nullptr; ///< where the transport sends the request
    u64 destination = 0; ///< the key of the destination. Operations with equal keys share a bound and round-trip times.
                         ///< 0: none, without a bound
    u16 destination_bound = 0; ///< limit of requests in flight to the destination; 0: engine_options::per_destination
    /// The peer counts every MAD that it has not replied to, as kernels do with requests to the SA. Each attempt then counts
    /// against destination_bound until it is replied to or returned, or until the transport has dropped it.
    bool counts_attempts = false;
    rtt_estimator::distance distance = 0; ///< distance to the destination; used only without a timeout
    /// Timeout of each attempt. 0: the retry interval follows the measured round-trip times (rtt_estimator.hpp), the number of
    /// attempts follows the loss rate, and replies to earlier attempts are still accepted. Only for Gets, which may be in flight
    /// twice. Precondition of 0: `destination` is not 0.
    duration timeout{};
    /// With a timeout: the timeout doubles after every second attempt, up to this value. 0: every attempt has the same `timeout`.
    duration longest_timeout{};
    /// Without a timeout: the time limit, if it is shorter than that of patience_options. It also reduces the number of attempts.
    /// The operation waits at least three times as long as the longest recent round trip. 0: the limit of patience_options.
    duration patience{};
    u8 retries = 0; ///< with a timeout: attempts after the first
    u8 busy_retries =
        0; ///< attempts after BUSY replies, each after a longer back-off. If none is left, a BUSY reply ends
           ///< the operation like any other reply
    bool expects_reply = true;
    static constexpr u16 unbounded = 0xffff; ///< a destination_bound
    bool takes_table = false;                ///< the reply may consist of several MADs (RMPP, IBA 13.6)

    operation_state state = operation_state::idle;
    // The remaining members have values only while the operation is pending.
    completion_status ready_as;
    u8 busy_replies;
    bool is_known;        // its destination has replied before, and was not given up since
    bool is_unresponsive; // the latest request to its destination was given up
    bool wants_attempt;   // its latest attempt is late, and attempts are left
    bool has_started;     // `started` is valid
    u16 attempts;         // started
    u16 sent;             // attempts that the transport accepted
    int error;
    u32 latest;                    // its latest attempt
    u32 destination_index;         // of its destination, if that has a bound
    time_point started;            // when its first attempt was sent, plus the time that it spent in the retry queue
    time_point retry_queued_since; // only while its state is retry_queued
    duration deadline;             // of the first attempt, without a timeout
    operation* previous;
    operation* next;

    operation() = default;
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;
};

inline void operation_queue::push_back(operation& o) noexcept {
    o.next = nullptr;
    o.previous = tail_;
    (tail_ ? tail_->next : head_) = &o;
    tail_ = &o;
}
inline void operation_queue::push_front(operation& o) noexcept {
    o.previous = nullptr;
    o.next = head_;
    (head_ ? head_->previous : tail_) = &o;
    head_ = &o;
}
inline void operation_queue::remove(operation& o) noexcept {
    (o.previous ? o.previous->next : head_) = o.next;
    (o.next ? o.next->previous : tail_) = o.previous;
}

} // namespace comad::mad
