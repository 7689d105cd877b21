// SPDX-License-Identifier: MIT
// engine.hpp - sans-I/O: the bounded window, transaction IDs, deadlines and retries of MADs, per-destination bounds.
// Knows no Asio, no clock, no coroutine; constant work and no allocation per MAD.
#pragma once
#include <comad/mad/detail/attempts.hpp>
#include <comad/mad/detail/deadlines.hpp>
#include <comad/mad/detail/destinations.hpp>
#include <comad/mad/detail/repetition.hpp>
#include <comad/mad/detail/send_rate.hpp>
#include <comad/mad/detail/window_control.hpp>
#include <comad/mad/engine_counters.hpp>
#include <comad/mad/message.hpp>
#include <comad/mad/op.hpp>
#include <comad/mad/rtt_estimator.hpp>
#include <comad/mad/trace.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace comad::mad {

struct engine_options {
    /// MADs in flight at any instant, 1..65536; a transport's own limit lowers it. 0: as many as come back
    /// (window_control.hpp), up to most_adaptive.
    unsigned max_outstanding = 64;
    unsigned per_destination = 2; ///< of those, to one destination, for operations that ask for the bound; 0: none
    u32 seed = 1;                 ///< where transaction IDs begin
    unsigned max_rate = 0;        ///< MADs sent per second, repeated ones included; 0: any number
    bool polite = false;          ///< an adaptive window stays at detail::window_control::most_polite
    patience_options patience{};  ///< of operations without a timeout

    static constexpr unsigned most_adaptive = 512;
};

/// What MADSchedule (coro/schedule.hpp) has inside; also for programs with callbacks and a loop of their own. Its layout, and what
/// is in comad/mad/detail/, may change with every version; a schedule has only a pointer to it.
///
/// The window counts MADs, not operations: each attempt from its sending until it is answered, given back by the transport,
/// or lost: late, while something that was sent after it was answered. So do those of operations that ended or were
/// cancelled. While all are late and nothing came from anybody, the wire may stand still: one more MAD goes then, as a
/// probe, and whatever is answered tells about the others. After a tenth of a second of that they are lost; sooner, down to an
/// eighth of it, those to targets that were never heard, if such a stall passed without any answer before.
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
    /// Ends a pending operation with completion_status::cancelled at the next run_ready(). Sends nothing: what takes its place leaves
    /// at the next resume_sends(), run_ready(), on_time() or on_received(). On the wire, its attempts count in the window until
    /// they are answered or lost; their replies are counted as stale.
    void cancel(op&) noexcept;
    /// Forgets a pending operation without completing it: for the destructor of whoever owns it. Sends nothing. Does nothing if
    /// not pending.
    void withdraw(op&) noexcept;

    /// The driver's clock. Attempts are timed from the first value after they were sent: never from one that is past.
    void set_now(time_point now) noexcept;
    /// A clock that goes on between calls of set_now(): what an answer took counts from the moment that the transport had its
    /// request. Null, as at the beginning: from set_now() after it.
    void use_clock(clock_reading clock) noexcept { clock_ = clock; }
    time_point now() const noexcept { return now_; }

    /// One result of transport::receive, any state but would_block. May complete operations and thereby run user code.
    void on_received(const received&) noexcept;
    /// Expires attempts that are due at now(): retries or ends their operations. Precondition: what has arrived was read,
    /// or answers that are there already are taken for late.
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

    /// True if one more operation could start now: the window has room, none waits for that, and not too many wait for a
    /// busy destination.
    bool has_room() const noexcept { return may_launch() && !has_waiting() && destinations_.parked() < max_parked_; }
    /// No operation is pending.
    bool idle() const noexcept {
        return under_way_ == 0 && waiting_.empty() && ready_.empty() && destinations_.parked() == 0;
    }
    /// MADs in flight, as the window counts them.
    unsigned in_flight() const noexcept { return in_flight_; }
    /// How many may be in flight now.
    unsigned window() const noexcept { return limit_; }
    /// Nothing is due before; time_point::max(): never. Precondition: set_now() since the last send.
    time_point next_deadline() const noexcept { return std::min(deadlines_.earliest(), rate_.opens_at(now_)); }
    /// Whether on_time() may have something to expire.
    bool may_be_due() const noexcept { return deadlines_.may_be_due(now_); }
    /// What was learned from answers to operations without a timeout.
    const rtt_estimator& measured() const noexcept { return trips_; }
    const detail::repetition& losses() const noexcept { return repetition_; }
    const engine_counters& counters() const noexcept { return counters_; }
    /// Who hears what happens; null: nobody. It must outlive the engine, or be taken away.
    void set_trace(trace_sink* sink) noexcept { trace_ = sink; }
    trace_sink* trace() const noexcept { return trace_; }

private:
    using attempt = detail::attempt;
    using attempt_table = detail::attempt_table;
    using state = attempt::state;
    static constexpr u32 none = attempt_table::none;

    static bool is_measured(const op& o) noexcept { return o.timeout.count() == 0; }
    static bool is_under_way(const op& o) noexcept {
        return o.where == op::place::in_flight || o.where == op::place::repeating;
    }

    // who may go
    /// While all that is in flight is late, one more may go and see, even if that is one too many.
    bool may_launch() const noexcept {
        if (!rate_.is_open(now_) || !attempts_.has_room()) return false;
        if (late_.empty()) return in_flight_ < limit_;
        return timely_ == 0 ? in_flight_ <= limit_ : in_flight_ < limit_ && !probing_;
    }
    bool has_waiting() const noexcept { return !waiting_.empty() || !repeating_.empty() || destinations_.has_freed(); }
    unsigned bound_of(const op& o) const noexcept {
        if (o.destination == 0 || o.destination_bound == op::unbounded) return 0;
        return o.destination_bound ? o.destination_bound : options_.per_destination;
    }
    void launch_more() noexcept;
    void try_launch(op&) noexcept;
    void launch(op&, u32 destination) noexcept;
    bool probe() noexcept;

    // attempts
    void begin_attempt(op&) noexcept;
    void supersede(op&) noexcept;
    duration wait_of(const op&) const noexcept;
    static duration timeout_of(const op&, unsigned attempts) noexcept;
    duration told_timeout(const op&) const noexcept;
    duration left_of_told(const attempt&) const noexcept;
    void encode(op&, u32 attempt) noexcept;
    bool offer(u32 attempt) noexcept;
    /// Precondition: blocked, flying or late. What it becomes is the caller's to say.
    void leave_flight(const attempt& a) noexcept {
        --in_flight_;
        if (a.what_became != state::late && --timely_ == 0) probing_ = false;
    }
    std::optional<duration> took(u32 attempt) const noexcept;
    void keep_time(u32 attempt) noexcept;

    // what comes too late
    void due(u32 attempt) noexcept;
    void overdue(u32 attempt) noexcept;
    static void note_begin(op&, const attempt& first) noexcept;
    void lose(u32 attempt) noexcept;
    void count_lost(attempt&) noexcept;
    void repeat(op&) noexcept;
    void end_pause(op&) const noexcept;
    void go_on(op&) noexcept;
    void give_up(op&) noexcept;
    duration stall_of(const attempt&) const noexcept;
    void end_stall(op&) noexcept;
    void lose_all(op&) noexcept;
    duration patience_with(const op&) const noexcept;
    bool has_attempts_left(const op&) const noexcept;
    void forget(u32 attempt) noexcept;

    // answers
    static bool may_be_answered(const attempt&) noexcept;
    static bool came_all_the_way(const op&, std::span<const u8> reply) noexcept;
    void on_unexpected(const received&, u64& counter) noexcept;
    void learn(u32 attempt) noexcept;
    void measure(const attempt&, duration time) noexcept;
    unsigned crowd_of(const attempt&) const noexcept;
    void count_losses_before(const attempt&) noexcept;
    void expect_behind(op&, u32 answered, duration time) noexcept;
    void fly_again(u32 attempt, duration wait) noexcept;
    void rest(u32 attempt) noexcept;
    void on_report(const received&) noexcept;
    void on_transport_failed(int error) noexcept;
    void tell(trace_event::kind, u32 attempt, const received* what = nullptr) noexcept;

    // ends
    void end(op&, completion&&, u32 answered) noexcept;
    void detach(op&, u32 answered) noexcept;
    void orphan(const op&, u32 attempt) noexcept;
    void unlink_earlier(op&, u32 attempt) noexcept;
    void take_out(u32 attempt) noexcept;
    void drop(u32 attempt) noexcept;
    void claim(attempt&, u32 destination) noexcept;
    void release_claim(attempt&) noexcept;
    void make_ready(op&, op::place, completion_status, int error = 0) noexcept;

    transport& transport_;
    const engine_options options_;
    unsigned window_;                               // the most
    std::optional<detail::window_control> control_; // of an adaptive window
    unsigned limit_;                                // the window now
    attempt_table attempts_;
    detail::deadlines
        deadlines_; // by attempt: until it is late, then what its operation, or nobody any more, waits for
    detail::destinations destinations_;
    std::size_t max_parked_;
    rtt_estimator trips_;
    detail::repetition repetition_;
    detail::send_rate rate_;

    unsigned in_flight_ = 0;      // attempts that are blocked, flying or late
    unsigned timely_ = 0;         // of those, not late
    std::size_t under_way_ = 0;   // operations with attempts
    bool probing_ = false;        // the timely one is a probe: nothing else goes
    u64 sequence_ = 0;            // of the latest attempt
    u64 answered_ = 0;            // the highest that was answered
    u64 stalled_ = 0;             // the latest when a stall was over last, without an answer
    duration stall_;              // how long it lasts if the target was never heard
    u64 crowded_ = 0;             // the highest that was sent when more than few were in flight
    attempt_table::list blocked_; // in the order in which they leave
    attempt_table::list late_;    // in the order of sending
    op_queue repeating_;          // whose latest attempt is lost
    op_queue waiting_;            // for their first, oldest first
    op_queue ready_;
    std::size_t ready_count_ = 0;
    bool holding_ = false;
    time_point now_{};
    clock_reading clock_ = nullptr;
    engine_counters counters_;
    trace_sink* trace_ = nullptr;
    alignas(8) std::array<u8, headroom + mad_size> packet_; // the one that is being offered
};

} // namespace comad::mad
