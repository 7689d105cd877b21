// SPDX-License-Identifier: MIT
// engine.hpp - the protocol engine: the window, transaction IDs, deadlines, retries and the bounds of destinations. It performs no
// I/O, reads no clock and does not depend on coroutines or Asio. It does constant work, and no allocation, per MAD.
#pragma once
#include <comad/mad/detail/attempts.hpp>
#include <comad/mad/detail/deadlines.hpp>
#include <comad/mad/detail/destinations.hpp>
#include <comad/mad/detail/engine_counters.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/operation.hpp>
#include <comad/mad/detail/retry_policy.hpp>
#include <comad/mad/detail/rtt_estimator.hpp>
#include <comad/mad/detail/send_rate.hpp>
#include <comad/mad/detail/window_control.hpp>
#include <comad/mad/trace.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace comad::mad {

/// The options of an engine.
struct engine_options {
    /// Limit of MADs in flight, 1..65536. The limit of the transport reduces it. 0: an adaptive window (window_control.hpp), up to
    /// most_adaptive.
    unsigned max_outstanding = 64;
    unsigned per_destination = 2; ///< limit per destination, for operations with a bound; 0: none
    u32 seed = 1;                 ///< the first transaction ID
    unsigned max_rate = 0;        ///< limit of MADs sent per second, including retries; 0: none
    bool polite = false;          ///< limits an adaptive window to detail::window_control::most_polite
    patience_options patience{};  ///< time limits of operations without a timeout

    static constexpr unsigned most_adaptive = 512;
};

/// Sends the requests of operations, retries them, and matches replies with them. MADSchedule (coro/schedule.hpp) owns one.
///
/// An operation is one request. Each of its transmissions is an attempt. engine_states.hpp lists the states of both, and the
/// functions that change them.
///
/// The window limits the MADs in flight, not the operations. An attempt is in flight from its transmission until it is replied
/// to, returned by the transport, or lost. An attempt is lost if it is late and a later attempt has been replied to. Attempts of
/// operations that ended or were canceled count too.
///
/// If all attempts in flight are late and nothing was received, the fabric may be stalled. The engine then sends one more MAD, a
/// probe: the reply to it shows that the others are lost. Without a reply, they are lost after a tenth of a second. If such a stall
/// passed without any reply before, this time becomes shorter, down to an eighth of it, for destinations that never replied.
class engine {
public:
    /// `t` must outlive the engine. Throws std::invalid_argument for a window outside 1..65536.
    explicit engine(transport& t, engine_options = {});
    /// Precondition: no operation is pending.
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Starts the operation: sends it now if the bounds allow, otherwise later, in the order of submission. Never completes it inside
    /// the call.
    void submit(operation&) noexcept;
    /// Ends a pending operation with completion_status::canceled in the next run_ready(). Sends nothing: the next resume_sends(),
    /// run_ready(), on_time() or on_received() uses the freed space. Attempts in flight count in the window until they are replied
    /// to or lost. Replies to them are counted as stale.
    void cancel(operation&) noexcept;
    /// Ends a pending operation without calling `done`, for the destructor of its owner. Sends nothing. Has no effect if the operation is
    /// not pending.
    void withdraw(operation&) noexcept;

    /// Sets the time of the driver's clock. The deadline of an attempt counts from the first call after the attempt was sent.
    void set_now(time_point now) noexcept;
    /// Sets a clock that the engine reads when it sends, so that round-trip times count from then. Null, the default: they count from the
    /// next set_now().
    void use_clock(clock_reading clock) noexcept { clock_ = clock; }
    time_point now() const noexcept { return now_; }

    /// Handles one result of transport::receive, except would_block. It may complete operations, and thereby run user code.
    void on_received(const received&) noexcept;
    /// Expires attempts whose deadlines have passed: retries or ends their operations. Precondition: the driver has received what
    /// has arrived. Otherwise these replies count as late.
    void on_time() noexcept;
    /// Offers blocked sends again: after a receive, and when the transport becomes writable.
    void resume_sends() noexcept;
    /// Until release_sends(), attempts are queued as if the transport blocked. For a driver that handles several messages in a
    /// row: reading, handling and writing take less time in blocks.
    void hold_sends() noexcept { holding_ = true; }
    void release_sends() noexcept {
        holding_ = false;
        resume_sends();
    }
    /// Completes the operations that are ready when it is called: rejected sends and canceled operations.
    void run_ready() noexcept;
    bool has_ready() const noexcept { return !ready_.empty(); }

    /// True if one more operation could start now: the window has space, no operation waits for it, and not too many wait for a
    /// destination at its bound.
    bool has_room() const noexcept { return may_launch() && !has_waiting() && destinations_.parked() < max_parked_; }
    /// No operation is pending.
    bool idle() const noexcept {
        return with_attempts_ == 0 && queue_.empty() && ready_.empty() && destinations_.parked() == 0;
    }
    /// MADs in flight, as the window counts them.
    unsigned in_flight() const noexcept { return in_flight_; }
    /// The present limit of MADs in flight.
    unsigned window() const noexcept { return limit_; }
    /// The earliest time at which on_time() has work; time_point::max(): never. Precondition: set_now() since the last send.
    time_point next_deadline() const noexcept { return std::min(deadlines_.earliest(), rate_.opens_at(now_)); }
    /// Whether a deadline may have passed.
    bool may_be_due() const noexcept { return deadlines_.may_be_due(now_); }
    /// The round-trip times of operations without a timeout.
    const rtt_estimator& measured() const noexcept { return trips_; }
    const detail::retry_policy& losses() const noexcept { return retry_policy_; }
    const engine_counters& counters() const noexcept { return counters_; }
    /// The sink of trace events; null: none. The sink must outlive the engine, or be removed before.
    void set_trace(trace_sink* sink) noexcept { trace_ = sink; }
    trace_sink* trace() const noexcept { return trace_; }

private:
    friend struct engine_inspector; // of the test of the state table
    using attempt = detail::attempt;
    using attempt_table = detail::attempt_table;
    using state = detail::attempt_state;
    static constexpr u32 none = attempt_table::none;

    static bool is_measured(const operation& o) noexcept { return o.timeout.count() == 0; }
    static bool is_in_progress(const operation& o) noexcept {
        return o.state == operation_state::in_flight || o.state == operation_state::retry_queued;
    }

    // starting operations and attempts
    /// If all attempts in flight are late, one more may be sent as a probe, even beyond the window.
    bool may_launch() const noexcept {
        if (!rate_.is_open(now_) || !attempts_.has_room()) return false;
        if (late_.empty()) return in_flight_ < limit_;
        return timely_ == 0 ? in_flight_ <= limit_ : in_flight_ < limit_ && !probing_;
    }
    bool has_waiting() const noexcept { return !queue_.empty() || !retry_queue_.empty() || destinations_.has_freed(); }
    unsigned bound_of(const operation& o) const noexcept {
        if (o.destination == 0 || o.destination_bound == operation::unbounded) return 0;
        return o.destination_bound ? o.destination_bound : options_.per_destination;
    }
    void launch_more() noexcept;
    void try_launch(operation&) noexcept;
    void launch(operation&, u32 destination) noexcept;
    bool probe() noexcept;

    // attempts
    void begin_attempt(operation&) noexcept;
    void supersede(operation&) noexcept;
    duration attempt_timeout(const operation&) const noexcept;
    duration measured_timeout(const operation&) const noexcept;
    static duration fixed_timeout(const operation&, unsigned attempts) noexcept;
    static duration growing_timeout(const operation&, unsigned attempts) noexcept;
    static duration sum_of_growing_timeouts(const operation&, unsigned last) noexcept;
    duration transport_timeout_of(const operation&) const noexcept;
    duration remaining_transport_timeout(const attempt&) const noexcept;
    void encode(operation&, u32 attempt) noexcept;
    bool offer(u32 attempt) noexcept;
    /// Precondition: the attempt is blocked, sent or late. The caller sets the next state.
    void leave_flight(const attempt& a) noexcept {
        --in_flight_;
        if (a.state != state::late && --timely_ == 0) probing_ = false;
    }
    std::optional<duration> round_trip_time(u32 attempt) const noexcept;
    void note_sent_at(u32 attempt) noexcept;

    // deadlines and losses
    void on_deadline(u32 attempt) noexcept;
    void on_late(u32 attempt) noexcept;
    static void note_start(operation&, const attempt& first) noexcept;
    void declare_lost(u32 attempt) noexcept;
    void count_lost(attempt&) noexcept;
    void queue_retry(operation&) noexcept;
    void exclude_queue_time(operation&) const noexcept;
    void on_attempt_expired(operation&) noexcept;
    void give_up(operation&) noexcept;
    duration stall_limit(const attempt&) const noexcept;
    void on_stall_over(operation&) noexcept;
    void declare_late_lost(operation&) noexcept;
    duration time_limit(const operation&) const noexcept;
    bool has_attempts_left(const operation&) const noexcept;
    void forget(u32 attempt) noexcept;

    // replies
    static bool may_be_answered(const attempt&) noexcept;
    static bool return_path_matches(const operation&, std::span<const u8> reply) noexcept;
    void on_unexpected(const received&, u64& counter) noexcept;
    void on_answered(u32 attempt) noexcept;
    void update_estimates(u32 attempt, bool is_set) noexcept;
    void add_sample(const attempt&, duration time) noexcept;
    unsigned in_flight_during(const attempt&) const noexcept;
    void count_losses_before(const attempt&) noexcept;
    void extend_later_deadlines(operation&, u32 answered, duration time) noexcept;
    void rearm(u32 attempt, duration wait) noexcept;
    void back_off(u32 attempt) noexcept;
    void on_report(const received&) noexcept;
    void on_transport_failed(int error) noexcept;
    void emit_trace(trace_event::kind, u32 attempt, const received* what = nullptr) noexcept;

    // ends
    void end(operation&, completion&&, u32 answered) noexcept;
    void detach(operation&, u32 answered) noexcept;
    void orphan(const operation&, u32 attempt) noexcept;
    void unlink_earlier(operation&, u32 attempt) noexcept;
    void remove_from_lists(u32 attempt) noexcept;
    void drop(u32 attempt) noexcept;
    void claim(attempt&, u32 destination) noexcept;
    void release_claim(attempt&) noexcept;
    void make_ready(operation&, operation_state, completion_status, int error = 0) noexcept;

    transport& transport_;
    const engine_options options_;
    unsigned window_;                               // the upper limit of the window
    std::optional<detail::window_control> control_; // of an adaptive window
    unsigned limit_;                                // the present window
    attempt_table attempts_;
    detail::deadlines
        deadlines_; // by attempt: when it becomes late, later when its operation or the engine stops waiting
    detail::destinations destinations_;
    std::size_t max_parked_;
    rtt_estimator trips_;
    detail::retry_policy retry_policy_;
    detail::send_rate rate_;

    unsigned in_flight_ = 0;        // attempts that are blocked, sent or late
    unsigned timely_ = 0;           // attempts that are blocked or sent
    std::size_t with_attempts_ = 0; // operations that have started attempts
    bool probing_ = false;          // the only timely attempt is a probe: no other attempt starts
    u64 sequence_ = 0;              // of the latest attempt
    u64 last_answered_ = 0;         // the highest sequence that was replied to
    u64 last_stall_ = 0;            // sequence_ when the latest stall was over
    duration stall_;                // time until late attempts are lost, for destinations that never replied
    u64 last_among_many_ = 0;       // the highest sequence that was sent with more than few MADs in flight
    attempt_table::list blocked_;   // in the order of sending
    attempt_table::list late_;      // in the order of sending
    operation_queue retry_queue_;   // operations that are retry_queued
    operation_queue queue_;         // operations that are queued, the oldest first
    operation_queue ready_;
    std::size_t ready_count_ = 0;
    bool holding_ = false;
    time_point now_{};
    clock_reading clock_ = nullptr;
    engine_counters counters_;
    trace_sink* trace_ = nullptr;
    alignas(8) std::array<u8, headroom + mad_size> packet_; // buffer of the attempt that is being offered
};

} // namespace comad::mad
