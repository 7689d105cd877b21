// SPDX-License-Identifier: MIT
// engine_model.hpp - a reference model that checks the engine. The model is the engine's transport and receives its
// trace events. A test reports every call to the model before the call is made. The model then checks which MADs the
// engine may send, which operations must end and how, and the values of all counters.
// The rules come from the headers of the engine and from docs/explanation/adaptive-retries.md. The model uses only the
// public interface of the engine, not its lists, slots and timers. Some rules permit several results, such as the end
// of a stall, or which of several operations ends first. The model accepts each of these results and adopts the
// engine's choice as soon as the choice is visible.
#pragma once
#include "library/engine_rig.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comad::test {

/// A destination of requests.
struct model_target {
    any_path path;
    const mad::rpc_kind* kind;
    u64 key = 0;                ///< operation::destination
    u16 requested_bound = 0;    ///< operation::destination_bound
    unsigned bound = 0;         ///< effective bound; 0: none
    bool counts = false;        ///< operation::counts_attempts
    bool takes_measured = true; ///< whether operations may have no timeout, so that their deadlines are measured
    bool dead = false;          ///< whether the target never replies; used by the test that simulates the wire
    u8 distance = 0;
};

/// One MAD as the transport sees it.
struct model_attempt {
    /// blocked, sent, late and lost are defined in the engine's header. returned: the transport reported the send as
    /// expired. backing_off: a BUSY reply arrived, and the operation waits before the next attempt. gone: finished; a
    /// message with its transaction ID belongs to no operation.
    enum class state : u8 { blocked, sent, late, lost, returned, backing_off, backed_off, gone };
    static constexpr u32 none = ~u32{0};

    u32 tid = 0, number = 0; // tid of the MAD, number of its operation
    u32 op = none;           // slot of its operation, while the operation is pending
    const model_target* to = nullptr;
    state what = state::blocked;
    bool measured = false, bounded = false, takes_table = false;
    bool known = false;             // its target had replied before it was sent
    bool started = false;           // its deadline runs, from `start`
    bool timed = false;             // `sent` is valid
    bool over = false;              // its deadline has passed once
    bool may_be_lost = false;       // it is late, and a stall may be over
    bool behind = false;            // its reply was expected after another reply of its target
    unsigned in_flight_at_send = 0; // number of MADs in flight when it was sent, including itself
    time_point start, sent, left, late_at;
    duration wait{}, kept{}, reported{}, stall{}; // stall: shortest possible stall when it became late
    duration unseen{};                            // engine_model::unseen_ at the time in `alone`
    time_point alone;                             // when it became late or lost its operation

    bool is_on_wire() const { return what == state::sent || what == state::late; }
    bool is_timely() const { return what == state::blocked || what == state::sent; }
};

/// An operation and the model's state for it.
struct model_operation : mad::operation {
    enum class stage : u8 { idle, waiting, under_way, ready, ending };
    class engine_model* model = nullptr;
    const model_target* to = nullptr;
    u32 slot = 0, number = 0;
    u64 order = 0; // order of submission
    stage at = stage::idle;
    bool measured = false, bounded = false;
    bool wants = false;    // the time of its latest attempt has passed, and it may retry
    bool must_end = false; // all its time has passed
    bool vague = false;    // it may have started an unseen attempt after one that the transport did not accept
    bool in_sight = false; // the model saw the start of its first attempt
    bool knows = false;    // its target was known when it started
    unsigned tries = 0;    // attempts, and periods that passed without space for one
    unsigned times_sent = 0, busy_used = 0;
    unsigned most_tries = 0, least_tries = 0; // without a timeout: most and fewest attempts permitted so far
    std::vector<u32> attempts{};              // attempts that may still have a result, oldest first
    bool started = false;                     // `period` runs, from `start`
    time_point start, submitted, started_at;
    duration period{}; // current period of waiting
    duration first_deadline{}, longest_patience{}, slowest{}, unseen{};
    duration paused{}; // longest time that it may have waited for space after its first attempt
    completion_status how{};
    int error_expected = 0;
    u64 batch = 0;      // batch in which it became ready
    u64 counted_in = 0; // latest on_time() at which it had no space

    bool is_open() const { return at == stage::waiting || at == stage::under_way; }
    u32 latest_attempt() const { return attempts.empty() ? model_attempt::none : attempts.back(); }
};

/// A message or report that the wire delivers.
struct model_delivery {
    enum class kind : u8 {
        reply,
        busy,
        part,
        foreign,
        garbled,
        wrong_size,
        tiny,
        stranger,
        report,
        failed_report,
        response_report
    };
    kind what = kind::reply;
    u32 attempt = 0; ///< attempt that it belongs to
    u32 noise = 0;   ///< random value for its other properties
};

/// The reference model. It acts as the transport and the trace sink of the engine that it checks.
class engine_model final : public mad::transport, public mad::trace_sink {
public:
    using state = model_attempt::state;
    using stage = model_operation::stage;
    static constexpr u32 none = model_attempt::none;

    engine_model(const engine_options& options, unsigned max_window, duration timer_resolution, unsigned operations);

    // The test sets the behavior of the wire and of the operations.
    enum class taking : u8 { takes, blocks, refuses };
    std::function<taking()> on_offer = [] { return taking::takes; };
    std::function<void(u32 attempt)> on_sent = [](u32) {};
    std::function<void(model_operation&)> on_end = [](model_operation&) {};
    int refusal = EINVAL;

    // The functions of the engine.
    void submit(model_operation&);
    void cancel(model_operation&);
    void withdraw(model_operation&);
    void set_time(time_point);
    void deliver(const model_delivery&);
    void fail_transport(int error);
    void on_time();
    void run_ready();
    void resume_sends();
    void hold_sends();
    void release_sends();
    /// Runs one turn of a driver. Afterwards no operation waits that could be sent.
    void turn();
    /// Check the invariants after each call, and after the last call.
    void check();
    void check_end();

    engine& mads() { return *engine_; }
    time_point now() const { return now_; }
    bool was_time_set() const { return time_set_; }
    bool holding() const { return holding_; }
    /// Returns true if attempts may have started that the model did not see: after an attempt that the transport did not
    /// accept, or while sends are held.
    bool is_foggy() const { return holding_ || hidden_; }
    const std::vector<u32>& pending() const { return pending_; }
    model_operation& op_at(u32 slot) { return ops_[slot]; }
    unsigned op_count() const { return static_cast<unsigned>(ops_.size()); }
    const model_attempt& attempt_at(u32 i) const { return attempts_[i]; }
    u32 attempts_made() const { return static_cast<u32>(attempts_.size()); }
    const std::vector<u32>& in_flight() const { return flight_; }
    /// Returns true if the effect of a reply to the attempt is unambiguous. The effect depends on which attempt is the
    /// latest, and on whether the engine still remembers the attempt.
    bool is_clear(u32 attempt, model_delivery::kind) const;
    void use_clock();
    bool is_known_tid(u32 tid) const { return *find_tid(tid) != 0; }

    bool has_failed() const { return !failure_.empty(); }
    const std::string& failure() const { return failure_; }
    /// Returns the latest events, one per line.
    std::string account() const;

    // mad::transport
    int native_handle() const noexcept override { return -1; }
    mad::transport_limits limits() const noexcept override {
        return {.max_window = max_window_, .timer_resolution = timer_resolution_};
    }
    mad::received receive(std::span<u8>) noexcept override { return {}; }
    mad::send_result send(const mad::send_request&) noexcept override;
    // mad::trace_sink
    void on_event(const mad::trace_event&) noexcept override;

private:
    static constexpr duration longest_stall = 100ms, shortest_stall = longest_stall / 8;
    static constexpr u32 remembered = 900;                        // a safe number; the engine remembers at least 1024
    static duration rounded_up(duration d) { return d + d / 25; } // deadlines have 32 steps per octave
    /// Returns the timeout after `tries` attempts, which doubles after every second attempt.
    static duration timeout_of(const model_operation& o, unsigned tries) {
        duration d = o.timeout;
        for (unsigned n = 3; n <= tries && d < o.longest_timeout; n += 2) d = std::min(2 * d, o.longest_timeout);
        return d;
    }
    static duration kept(duration d) { return mad::detail::deadlines::rounded(d); }

    void require(bool holds, const char* what, u64 a = 0, u64 b = 0) {
        if (!holds && failure_.empty())
            failure_ = std::string(what) + ": " + std::to_string(a) + ", " + std::to_string(b);
    }
    void note(const char* what, u64 a = 0, u64 b = 0) {
        if (failure_.empty()) notes_[noted_++ % notes_.size()] = {what, a, b, now_};
    }

    // sent MADs
    void check_request(const model_operation&, const mad::send_request&);
    void check_begin(model_operation&, const mad::send_request&);
    void check_window();
    void count_probe();
    void check_first(model_operation&, const mad::send_request&);
    void check_repeat(model_operation&, const mad::send_request&);
    u32 begin(model_operation&, const mad::send_request&, u32 tid);
    void take(model_operation&, u32 attempt);
    void refuse(model_operation&, u32 attempt);
    unsigned claims(const model_target&, bool at_most) const;
    unsigned held_by(const model_target&) const;
    bool is_rate_open() const {
        return interval_ == duration{0} || due_ - now_ <= std::max<duration>(1ms - interval_, duration{0});
    }
    bool can_go(const model_operation&) const;
    bool has_place() const;
    void check_nothing_waits();
    void check_probe_went();

    // MADs in flight
    template <class Is> unsigned count_flight(Is is) const {
        unsigned n = 0;
        for (u32 i : flight_) n += is(attempts_[i]);
        return n;
    }
    unsigned certain() const {
        return count_flight([](const model_attempt& a) { return !a.may_be_lost; });
    }
    unsigned timely() const {
        return count_flight([](const model_attempt& a) { return a.is_timely(); });
    }
    void leave_flight(u32 attempt);
    void become(u32 attempt, state);
    void forget(u32 attempt);
    void be_late(u32 attempt);
    void expire_attempts();
    void lose_before_answered();
    void find_stalls(bool was_reported);
    void doubt_stall(model_operation&, bool was_reported);
    void doubt_orphan(model_attempt&, u32);
    duration least_stall(const model_attempt& a) const {
        return a.known || !stall_passed_ ? longest_stall : shortest_stall;
    }
    void settle_doubts();

    // ends of operations
    void pass_periods();
    void pass_period(model_operation&);
    void check_patience(const model_operation&);
    void check_all_ended();
    void end(model_operation&, completion_status, int error, u32 answered);
    void orphan(u32 attempt);
    void make_ready(model_operation&, completion_status, int error, u64 batch);
    void close(model_operation&);
    void finish(model_operation&, const mad::completion&);
    void allow_tries(model_operation&);

    // replies
    std::span<u8> compose(const model_delivery&);
    void expect_message(const model_delivery&, std::size_t size);
    void expect_report(const model_delivery&);
    void accept(u32 attempt);
    void back_off(u32 attempt);
    void rearm(u32 attempt, duration wait);
    void learn(u32 attempt);
    void teach(u32 attempt, std::optional<duration> time);
    void extend_later_deadlines(const model_operation&, u32 answered, duration time);
    std::optional<duration> round_trip_time(const model_attempt&) const;
    bool is_answerable(const model_attempt&) const;
    u32* find_tid(u32 tid) const;

    void compare_counters();
    void compare_flight();
    void compare_teachings();

    engine_options options_;
    unsigned max_window_;
    duration timer_resolution_;
    std::vector<model_operation> ops_;
    std::vector<u32> pending_; // slots of the pending operations
    std::vector<model_attempt> attempts_;
    std::vector<u32> flight_; // attempts that count against the window
    std::vector<u32> held_;   // attempts at targets with counts_attempts
    std::vector<u32> behind_; // returned attempts whose target is still expected to reply
    mutable std::vector<u32> tids_ = std::vector<u32>(1 << 14); // attempt index + 1 by transaction ID; 0: none
    u32 blocked_ = none;                                        // attempt that the transport did not accept
    bool holding_ = false, hidden_ = false;
    bool time_set_ = false; // the time was reported since an operation started to wait
    time_point now_{};
    duration unseen_{}; // time that passed while a deadline waited for the next reading of the clock
    duration interval_;
    time_point due_{}; // time of the next MAD if max_rate were kept exactly
    u64 submissions_ = 0, batches_ = 0, polls_ = 0;
    u32 perhaps_answered_ = 0;
    u32 answered_ = 0; // index + 1 of the latest attempt with a reply
    bool stall_passed_ = false;
    u8 probing_ = 0; // 2: unknown
    bool in_on_time_ = false, ended_in_it_ = false, was_due_ = false;
    bool has_clock_ = false;
    u32 ending_ = none; // slot of the operation that this call must end
    std::size_t ready_ = 0, may_finish_ = 0;
    bool may_end_now_ = false;
    float last_loss_ = 0;
    mad::engine_counters count_;
    u64 more_probes_ = 0, more_spurious_ = 0, more_revived_ = 0, more_late_ = 0; // possible further counts
    std::array<u64, 5> reported_{};                                              // number of trace events by kind
    u64 answers_to_report_ = 0, tiny_ = 0;
    std::array<u8, mad::headroom + 512> bytes_{};
    mad::received delivered_{};

    // Expected results of the measurements; taught_ is false if the model cannot determine them.
    bool taught_ = true;
    mad::rtt_estimator trips_;
    mad::detail::retry_policy losses_;
    u32 last_among_many_ = 0; // index + 1 of the latest attempt sent while more than a few were in flight
    const model_target* touched_ = nullptr;

    struct noted {
        const char* what;
        u64 a, b;
        time_point when;
    };
    std::array<noted, 40> notes_{};
    u64 noted_ = 0;
    std::string failure_;
    std::optional<engine> engine_;
};

} // namespace comad::test

#include "library/engine_model_rules.hpp"
