// SPDX-License-Identifier: MIT
// engine.hpp - sans-I/O: the bounded window, transaction IDs, deadlines and retries of MADs, per-destination bounds.
// Knows no Asio, no clock, no coroutine; constant work and no allocation per MAD.
#pragma once
#include <comad/mad/deadlines.hpp>
#include <comad/mad/op.hpp>
#include <comad/mad/round_trips.hpp>
#include <comad/mad/send_rate.hpp>
#include <comad/mad/trace.hpp>
#include <comad/mad/transport.hpp>
#include <comad/mad/window_control.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace comad::mad {

struct engine_options {
    /// MADs in flight at any instant, 1..65536; a transport's own limit lowers it. 0: as many as come back
    /// (window_control.hpp), up to most_adaptive.
    unsigned max_outstanding = 64;
    unsigned per_destination = 2; ///< of those, to one destination, for operations that ask for the bound; 0: none
    u32 seed = 1;                 ///< where transaction IDs begin
    unsigned max_rate = 0;        ///< MADs sent per second, repeated ones included; 0: any number
    bool polite = false;          ///< an adaptive window gives way when round trips grow
    patience_options patience{};  ///< of operations without a timeout

    static constexpr unsigned most_adaptive = 512;
};

/// What happened so far. sent = replied + timed_out + cancelled + lost + those in flight, retries apart.
struct engine_counters {
    u64 sent = 0;    ///< operations whose first attempt the transport took; those without reply apart
    u64 retried = 0; ///< further attempts
    u64 replied = 0;
    u64 timed_out = 0;       ///< operations, all of whose attempts expired
    u64 cancelled = 0;       ///< or withdrawn, while in flight
    u64 lost = 0;            ///< in flight when the transport failed or refused a further attempt
    u64 unanswered = 0;      ///< operations sent that expect no reply
    u64 send_failed = 0;     ///< operations of which the transport never took an attempt
    u64 would_block = 0;     ///< sends that had to be offered again
    u64 busy = 0;            ///< replies that said BUSY and were followed by another attempt
    u64 late_replies = 0;    ///< accepted replies to an attempt before the latest; in `replied`
    u64 stale = 0;           ///< replies for no pending operation: late, doubled or foreign
    u64 revived = 0;         ///< of these, such that an operation on their sender had been given up: it is not silent
    u64 expired_reports = 0; ///< sends that the transport itself reported as expired
    u64 mismatched = 0;      ///< our transaction ID, but class, method or attribute of something else
    u64 malformed = 0;       ///< too short or too long to be a MAD
};

class engine {
public:
    /// `t` must outlive the engine. Throws std::invalid_argument for a window outside 1..65536.
    explicit engine(transport& t, engine_options = {});
    /// Precondition: no operation is pending.
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Takes the operation: sends it now if the bounds allow, else later, oldest first. Never completes it inside.
    void submit(op&) noexcept;
    /// Ends a pending operation with verdict::cancelled at the next run_ready(); on the wire, its slot is free at once
    /// and the late reply is counted as stale.
    void cancel(op&) noexcept;
    /// Forgets a pending operation without completing it: for the destructor of whoever owns it. Does nothing if not pending.
    void withdraw(op&) noexcept;

    /// The driver's clock. Attempts are timed from the first value after they were sent: never from one that is past.
    void set_now(time_point now) noexcept;
    time_point now() const noexcept { return now_; }

    /// One result of transport::receive, any state but would_block. May complete operations and thereby run user code.
    void on_received(const received&) noexcept;
    /// Expires attempts that are due at now(): retries or ends their operations.
    void on_time() noexcept;
    /// Offers blocked sends again: after a receive, and when the transport became writable.
    void resume_sends() noexcept;
    /// From here to release_sends(), what is to be sent queues up as if the transport blocked. For a driver that handles
    /// several messages in a row: reading, handling and writing take less time in blocks than in turn.
    void hold_sends() noexcept { holding_ = true; }
    void release_sends() noexcept {
        holding_ = false;
        resume_sends();
    }
    /// Completes operations that ended outside a receive (refused sends, cancellations), those pending at the call.
    void run_ready() noexcept;
    bool has_ready() const noexcept { return !ready_.empty(); }

    /// True if one more operation could start now: a slot is free, none waits for one, and not too many wait for a
    /// busy destination.
    bool has_room() const noexcept { return may_launch() && waiting_.empty() && parked_ < max_parked_; }
    /// Nothing pending at all.
    bool idle() const noexcept { return in_flight() == 0 && waiting_.empty() && ready_.empty(); }
    unsigned in_flight() const noexcept { return in_flight_; }
    /// How many may be in flight now.
    unsigned window() const noexcept { return limit_; }
    /// No attempt expires before, and max_rate lets nothing more go; time_point::max(): never. Precondition: set_now() since
    /// the last send.
    time_point next_deadline() const noexcept { return std::min(deadlines_.earliest(), rate_.opens_at(now_)); }
    /// What was learned from answers to operations without a timeout.
    const round_trips& measured() const noexcept { return trips_; }
    const engine_counters& counters() const noexcept { return counters_; }
    /// Who hears what happens; null: nobody. It must outlive the engine, or be taken away.
    void set_trace(trace_sink* sink) noexcept { trace_ = sink; }
    trace_sink* trace() const noexcept { return trace_; }

private:
    static constexpr u32 none = ~u32{0};
    struct slot {
        op* owner = nullptr;
        u32 first_generation = 0; // of the operation in the slot
        u32 generation = 0;       // of its latest attempt
        u32 destination = none;   // index into destinations_
        u32 next_free = none;     // the free ones are a stack, so that the cache stays warm
        u32 previous_blocked = none, next_blocked = none;
        bool blocked = false; // its latest attempt still has to be written
        bool refused = false; // the transport did not take it when it was offered
        bool resting = false; // after a reply that said BUSY, until its deadline
        bool known = false;   // its destination answered before, and was not given up since
        bool silent = false;  // it was given up
        bool alone = false;   // nothing else was in flight to its destination when it was launched
        u8 busy_replies = 0;
        u16 sent = 0;               // how many attempts were written
        duration deadline{};        // of the first attempt
        duration wait{};            // of the latest
        time_point first_started{}; // its first attempt; once that expired
        alignas(8) u8 packet[headroom + mad_size];
        u8* mad() noexcept { return packet + headroom; }
    };
    struct destination { // exists while something is in flight to it; found by key through chained buckets
        u64 key = 0;
        unsigned in_flight = 0;
        u32 next = none; // in its bucket, or of the free ones
        op_queue parked;
    };

    /// The last operation in a slot that was given up: if its answer comes after all, that target is not silent.
    struct given_up {
        u64 destination = 0; // 0: there is none
        time_point first_started{};
        u32 first_generation = 0, last_generation = 0;
        round_trips::distance distance = 0;
    };

    bool may_launch() const noexcept { return in_flight_ < limit_ && rate_.is_open(now_); }
    bool is_measured(const op& o) const noexcept { return o.timeout.count() == 0; }
    bool try_launch(op&) noexcept;
    void launch(op&, u32 destination) noexcept;
    void begin_attempt(u32 slot) noexcept;
    bool offer(u32 slot) noexcept;
    void enqueue_blocked(u32 slot, bool in_front) noexcept;
    void dequeue_blocked(u32 slot) noexcept;
    void attempt_expired(u32 slot) noexcept;
    duration wait_of(const slot&) const noexcept;
    duration patience_with(const op&) const noexcept;
    bool has_attempts_left(const slot&) const noexcept;
    void was_answered(u32 slot, u32 later) noexcept;
    void give_up(u32 slot) noexcept;
    void revive(u32 tid) noexcept;
    void refill() noexcept;
    void make_wait(op_queue& parked) noexcept;
    op& vacate(u32 slot) noexcept;
    void make_ready(op&, op::place, verdict, int error = 0) noexcept;
    void finish(u32 slot, completion&&) noexcept;
    void on_report(const received&) noexcept;
    void on_transport_failed(int error) noexcept;
    void rest(u32 slot) noexcept;
    void tell(trace_event::kind, u32 slot, const received* what = nullptr) noexcept;
    struct attempt {
        u32 slot;  // none: of no pending operation
        u32 later; // attempts that were made after it
    };
    attempt find_attempt(u32 tid) const noexcept;
    u32 bucket_of(u64 key) const noexcept { return static_cast<u32>(key & (buckets_.size() - 1)); }
    u32 generations() const noexcept { return ~u32{0} >> slot_bits_; } // a mask: there are so many
    u32 find_destination(u64 key) const noexcept;
    u32 make_destination(u64 key) noexcept;
    void drop_destination(u32 index) noexcept;

    transport& transport_;
    const engine_options options_;
    unsigned window_;                       // slots
    std::optional<window_control> control_; // of an adaptive window
    unsigned limit_;                        // the window now
    unsigned slot_bits_;                    // low bits of a transaction ID: the slot; the rest: the generation
    std::vector<slot> slots_;
    u32 free_slot_ = none;
    unsigned in_flight_ = 0;
    deadlines deadlines_;
    round_trips trips_;
    send_rate rate_;
    std::vector<given_up> given_up_; // by slot
    std::vector<destination> destinations_;
    u32 free_destination_ = none;
    std::vector<u32> buckets_;
    op_queue waiting_; // for a slot, oldest first
    op_queue ready_;
    std::size_t ready_count_ = 0;
    std::size_t parked_ = 0;
    std::size_t max_parked_;
    u32 blocked_head_ = none, blocked_tail_ = none;
    bool holding_ = false;
    time_point now_{};
    engine_counters counters_;
    trace_sink* trace_ = nullptr;
};

} // namespace comad::mad
