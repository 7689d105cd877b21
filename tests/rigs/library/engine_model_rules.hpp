// SPDX-License-Identifier: MIT
// engine_model_rules.hpp - the rules of the engine model: for each call, for each MAD that the engine sends, and for
// each end of an operation.
#pragma once
#include "library/engine_model.hpp"

namespace comad::test {

// ---- calls -----------------------------------------------------------------------------------------------------------

/// Creates the engine with the model as its transport and trace sink.
inline engine_model::engine_model(const engine_options& options, unsigned max_window, duration timer_resolution,
                                  unsigned operations)
    : options_(options), max_window_(max_window), timer_resolution_(timer_resolution), ops_(operations),
      interval_(options.max_rate ? duration(1s) / options.max_rate : duration{0}),
      trips_(options.patience, timer_resolution) {
    attempts_.reserve(4096);
    for (u32 i = 0; i < operations; ++i) {
        model_operation& o = ops_[i];
        o.model = this;
        o.slot = o.number = i;
        o.encode = [](mad::operation& base, u8* bytes) {
            const auto& self = static_cast<model_operation&>(base);
            mad::write_request(bytes, *self.to->kind, self.to->path, self.number);
        };
        o.done = [](mad::operation& base, const mad::completion& how) {
            auto& self = static_cast<model_operation&>(base);
            self.model->finish(self, how);
        };
    }
    engine_.emplace(*this, options);
    engine_->set_trace(this);
}

/// Returns the time that the engine's clock reads after use_clock().
inline time_point& model_clock() {
    static time_point clock;
    return clock;
}

inline std::string engine_model::account() const {
    std::string text;
    for (u64 i = noted_ - std::min<u64>(noted_, notes_.size()); i < noted_; ++i) {
        const noted& n = notes_[i % notes_.size()];
        text += std::to_string(n.when.time_since_epoch().count()) + " ns: " + n.what + ' ' + std::to_string(n.a) + ' ' +
                std::to_string(n.b) + '\n';
    }
    text += "in flight, as seen (attempt/state/operation):";
    for (u32 i : flight_) {
        const model_attempt& a = attempts_[i];
        text += ' ' + std::to_string(i) + '/' + std::to_string(int(a.what)) + (a.may_be_lost ? "?" : "") + '/' +
                (a.op == none ? "none" : std::to_string(a.number));
    }
    return text + '\n';
}

/// Makes the engine read the time from model_clock().
inline void engine_model::use_clock() {
    has_clock_ = true;
    engine_->use_clock([]() noexcept { return model_clock(); });
}

/// Submits an operation and checks whether the engine sends it at once.
inline void engine_model::submit(model_operation& o) {
    o.number += op_count();
    note("submit", o.number, o.to->distance);
    o.order = ++submissions_;
    o.at = stage::waiting;
    o.measured = o.timeout == duration{0};
    o.bounded = o.to->bound != 0 && o.destination != 0 && o.destination_bound != mad::operation::unbounded;
    o.wants = o.must_end = o.vague = o.in_sight = o.knows = o.started = false;
    o.tries = o.times_sent = o.busy_used = 0;
    o.counted_in = 0;
    o.most_tries = 0;
    o.least_tries = ~0u;
    o.attempts.clear();
    o.submitted = o.started_at = now_;
    o.paused = {};
    o.longest_patience = o.slowest = duration{0};
    o.unseen = unseen_;
    pending_.push_back(o.slot);
    time_set_ = false;
    const bool had_room = engine_->has_room();
    const bool is_free = !o.bounded || claims(*o.to, true) < o.to->bound;
    const u64 sent_before = attempts_.size();
    engine_->submit(o);
    const bool went = attempts_.size() > sent_before;
    if (is_foggy() || in_on_time_ || !is_free) return;
    require(went == had_room, had_room ? "there was room, and it was not sent" : "there was no room, and it was sent");
}

/// Cancels an operation, which becomes ready with the status cancelled.
inline void engine_model::cancel(model_operation& o) {
    note("cancel", o.number, o.attempts.size());
    time_set_ = false; // the deadlines of orphaned attempts start at another time
    if (o.is_open()) {
        if (o.times_sent) ++count_.cancelled;
        close(o);
        make_ready(o, completion_status::cancelled, 0, ++batches_);
    }
    engine_->cancel(o);
}

/// Withdraws an operation, which then never ends.
inline void engine_model::withdraw(model_operation& o) {
    note("withdraw", o.number, o.attempts.size());
    time_set_ = false; // the deadlines of orphaned attempts start at another time
    if (o.is_open() && o.times_sent) ++count_.cancelled;
    if (o.at == stage::ready) --ready_;
    if (o.at != stage::idle) {
        close(o);
        o.at = stage::idle;
        std::erase(pending_, o.slot);
    }
    engine_->withdraw(o);
}

/// Reports the time to the engine. The deadlines of new attempts start at this time.
inline void engine_model::set_time(time_point now) {
    note("time, after ns", u64((now - now_).count()));
    if (!time_set_) unseen_ += now - now_;
    now_ = now;
    time_set_ = true;
    for (u32 slot : pending_) {
        model_operation& o = ops_[slot];
        if (o.at == stage::under_way && !std::exchange(o.started, true)) o.start = now;
        for (u32 i : o.attempts) {
            model_attempt& a = attempts_[i];
            if (std::exchange(a.started, true)) continue;
            a.start = now;
            if (o.tries == 1 && o.in_sight && o.busy_used == 0) o.started_at = a.timed ? a.sent : now;
        }
    }
    for (u32 i : flight_)
        if (!std::exchange(attempts_[i].started, true)) attempts_[i].start = now;
    engine_->set_now(now);
}

/// Delivers a message or report to the engine.
inline void engine_model::deliver(const model_delivery& d) {
    note("deliver to attempt, kind", d.attempt, u64(d.what));
    const std::span<u8> message = compose(d);
    delivered_ = {};
    delivered_.state = mad::receive_state::message;
    delivered_.mad = message;
    delivered_.full_size = message.size();
    using kind = model_delivery::kind;
    if (d.what == kind::report || d.what == kind::response_report) delivered_.status = ETIMEDOUT;
    if (d.what == kind::failed_report) delivered_.status = EIO;
    delivered_.is_part = d.what == kind::part;
    const auto* path = std::get_if<mad::IBPath>(&attempts_[d.attempt].to->path);
    if (path) delivered_.source.SLID = iba::lid{static_cast<u16>(value(path->DLID) + (d.what == kind::stranger))};
    time_set_ = false;
    if (delivered_.status && message.size() >= 24) expect_report(d);
    else expect_message(d, message.size());
    engine_->on_received(delivered_);
    require(ending_ == none, "an answered operation has not ended", ending_);
    ending_ = none;
}

/// Reports a failed transport, which ends all operations that have been sent.
inline void engine_model::fail_transport(int error) {
    const u64 batch = ++batches_;
    for (u32 i = 0; i < attempts_.size(); ++i) {
        if (attempts_[i].what == state::gone) continue;
        if (attempts_[i].op == none) forget(i);
        else become(i, state::returned);
    }
    for (u32 slot : pending_) {
        model_operation& o = ops_[slot];
        if (o.at != stage::under_way) continue;
        ++(o.times_sent ? count_.lost : count_.send_failed);
        make_ready(o, completion_status::transport_failed, error, batch);
    }
    taught_ = false;
    mad::received r;
    r.state = mad::receive_state::failed;
    r.error = error;
    engine_->on_received(r);
}

/// Calls on_time() of the engine and checks which operations and attempts may end.
inline void engine_model::on_time() {
    note("on_time, in flight", engine_->in_flight(), engine_->window());
    const bool was_reported = time_set_;
    const bool is_due = engine_->may_be_due();
    const bool is_early = was_reported && now_ < engine_->next_deadline();
    in_on_time_ = true;
    ++polls_;
    ended_in_it_ = false;
    time_set_ = false;
    was_due_ = false;
    expire_attempts();
    pass_periods();
    find_stalls(false);
    lose_before_answered();
    may_end_now_ = true;
    engine_->on_time();
    may_end_now_ = false;
    in_on_time_ = false;
    find_stalls(true);
    check_all_ended();
    require(!ended_in_it_ || (is_due && !is_early), "something ended before the next deadline");
    require(!was_due_ || (is_due && !is_early), "something was due before the next deadline");
    settle_doubts();
    if (!ended_in_it_) check_probe_went();
}

/// Calls run_ready() of the engine, which must end all ready operations.
inline void engine_model::run_ready() {
    note("run_ready", ready_);
    may_finish_ = ready_;
    time_set_ = false;
    engine_->run_ready();
    require(may_finish_ == 0 || ready_ == 0, "not all ended that were ready", may_finish_, ready_);
    may_finish_ = 0;
}

/// Calls resume_sends() of the engine.
inline void engine_model::resume_sends() {
    note("resume_sends");
    // A MAD that waits in the engine has the deadline of its operation. After it has been sent it has its own deadline,
    // which starts at the next reported time.
    if (is_foggy() && !time_set_) set_time(now_);
    time_set_ = false;
    engine_->resume_sends();
    if (blocked_ == none && !holding_) hidden_ = false;
}

/// Calls hold_sends() of the engine.
inline void engine_model::hold_sends() {
    note("hold_sends");
    holding_ = hidden_ = true;
    engine_->hold_sends();
}

/// Calls release_sends() of the engine.
inline void engine_model::release_sends() {
    note("release_sends");
    if (!time_set_) set_time(now_);
    holding_ = false;
    time_set_ = false;
    engine_->release_sends();
    if (blocked_ == none) hidden_ = false;
}

inline void engine_model::turn() {
    if (!time_set_) set_time(now_);
    on_time();
    run_ready();
    resume_sends();
    check_nothing_waits();
}

// ---- sent MADs -------------------------------------------------------------------------------------------------------

inline mad::send_result engine_model::send(const mad::send_request& r) noexcept {
    const u32 number = witness::number_of(r.mad);
    const u32 tid = mad::low_tid(r.mad);
    note("sends, attempt", number, blocked_ == none ? attempts_.size() : blocked_);
    model_operation& o = ops_[number % op_count()];
    require(o.number == number && o.is_open(), "sent for an operation that has ended", number);
    require(!holding_, "sent while sends are held");
    if (has_failed()) return {};
    check_request(o, r);
    u32 i = blocked_;
    if (i == none) {
        check_begin(o, r);
        i = begin(o, r, tid);
    } else {
        require(attempts_[i].tid == tid && attempts_[i].number == number,
                "it overtakes what the transport did not take");
    }
    const taking result = on_offer();
    if (result != taking::takes) note(result == taking::blocks ? "it blocks" : "it is refused");
    switch (result) {
    case taking::blocks:
        if (blocked_ == none) ++count_.would_block;
        blocked_ = i;
        hidden_ = true;
        return {mad::send_state::would_block, 0};
    case taking::refuses: refuse(o, i); return {mad::send_state::failed, refusal};
    case taking::takes: break;
    }
    take(o, i);
    return {};
}

/// Checks the properties of a request.
inline void engine_model::check_request(const model_operation& o, const mad::send_request& r) {
    require(r.path == &o.to->path && r.size == mad::mad_size, "another path or size");
    require(r.mgmt_class == r.mad[1] && r.class_version == r.mad[2], "another class than in the MAD");
    require(r.expects_reply == o.expects_reply, "another word about replies");
    require(r.in_flight == engine_->in_flight(), "another number in flight", r.in_flight, engine_->in_flight());
}

/// Checks that an attempt may start now.
inline void engine_model::check_begin(model_operation& o, const mad::send_request& r) {
    if (!is_foggy()) {
        require(is_rate_open(), "more than max_rate");
        check_window();
        count_probe();
    } else {
        probing_ = 2;
        ++more_probes_;
    }
    if (o.at == stage::waiting) check_first(o, r);
    else check_repeat(o, r);
}

/// Checks the window. One MAD more is permitted while all MADs in flight are late.
inline void engine_model::check_window() {
    const unsigned limit = engine_->window(), n = certain(), timely_now = timely();
    const auto late = static_cast<unsigned>(flight_.size()) - timely_now;
    const bool is_probe = late > 0 && timely_now == 0;
    require(n < limit + is_probe, "more in flight than the window", n, limit);
    const bool surely_late = n > timely_now && !(in_on_time_ && ended_in_it_);
    require(!(surely_late && timely_now > 0 && probing_ == 1), "it goes beside a probe");
}

/// Counts a probe: a MAD that is sent while all MADs in flight are late.
inline void engine_model::count_probe() {
    if (timely() > 0) return;
    const bool is_certain = certain() > 0 && !(in_on_time_ && ended_in_it_);
    if (is_certain) {
        ++count_.probes;
        probing_ = 1;
    } else if (!flight_.empty() || in_on_time_) {
        ++more_probes_;
        probing_ = 2;
    }
}

/// Checks the first attempt of an operation: in order of submission, and only if its destination has space.
inline void engine_model::check_first(model_operation& o, const mad::send_request& r) {
    if (o.bounded && !is_foggy()) {
        const unsigned n = claims(*o.to, false);
        require(n < o.to->bound, "more than its destination's bound", n, o.to->bound);
    }
    for (u32 slot : pending_) {
        const model_operation& p = ops_[slot];
        if (p.at != stage::waiting || p.order >= o.order) continue;
        require(p.bounded, "it overtakes one that waits for no destination", o.number, p.number);
        require(!o.bounded || p.to != o.to, "it overtakes one to the same destination", o.number, p.number);
    }
    if (!o.measured) return;
    const auto expected = engine_->measured().expect(o.destination, o.distance);
    o.first_deadline = expected.deadline;
    o.knows = expected.known;
    if (is_foggy()) return;
    const duration wait = std::min(expected.deadline, options_.patience.longest_deadline);
    require(r.attempt_timeout == wait, "not as long as answers from there take");
    const bool timeout_is_estimate = !expected.known && !engine_->losses().is_lossy();
    require(r.timeout_is_estimate == timeout_is_estimate, "whether its deadline is a guess");
}

/// Checks a further attempt: only after the period of the previous attempt, and only up to the permitted number.
inline void engine_model::check_repeat(model_operation& o, const mad::send_request& r) {
    const model_attempt& before = attempts_[o.latest_attempt()];
    if (o.measured) {
        const bool was_lost = before.what == state::lost || before.may_be_lost;
        const bool came_back = (before.what == state::returned && before.over) || before.what == state::backed_off;
        const bool may_probe = before.what == state::late && (timely() == 0 || is_foggy());
        require(was_lost || came_back || may_probe, "again before anything told that it was lost", u64(before.what));
        require(o.tries < o.most_tries || o.vague, "more attempts than it has", o.tries, o.most_tries);
        // After a BUSY reply the period starts at the end of the back-off.
        const time_point wanted = before.what == state::backed_off ? o.started_at : before.sent + before.wait;
        o.paused += std::max(now_ - wanted, duration{0});
        const unsigned backoff = engine_->losses().backoff(o.tries + 1);
        const duration least = std::min(o.first_deadline * backoff, options_.patience.longest_deadline);
        const duration most = std::min(o.first_deadline * backoff * 39 / 32, options_.patience.longest_deadline);
        const bool is_apart = r.attempt_timeout >= least && r.attempt_timeout <= most;
        require(is_apart || o.vague || is_foggy(), "a repeated one waits for another time");
    } else {
        require(o.wants, "again before its timeout was over", u64(before.what));
        require(!o.must_end || o.vague || (in_on_time_ && ended_in_it_), "again when all its timeouts were over");
        require(o.times_sent <= o.retries + o.busy_used, "more attempts than it has", o.times_sent);
    }
}

/// Records the start of an attempt. Returns its index.
inline u32 engine_model::begin(model_operation& o, const mad::send_request& r, u32 tid) {
    const bool is_first = o.at == stage::waiting;
    if (is_first) {
        o.vague = false;
        o.in_sight = !is_foggy();
    } else {
        const state before = attempts_[o.latest_attempt()].what;
        if (before == state::returned || before == state::backed_off) forget(o.latest_attempt());
    }
    if (is_foggy()) {
        o.vague = true;
        taught_ = false;
    }
    if (in_on_time_ && ended_in_it_ && o.counted_in == polls_)
        o.vague = true; // it got space before its period had passed
    o.must_end = false;
    const u32 i = attempts_made();
    model_attempt& a = attempts_.emplace_back();
    a.tid = tid;
    a.number = o.number;
    a.op = o.slot;
    a.to = o.to;
    a.measured = o.measured;
    a.bounded = o.bounded;
    a.takes_table = o.takes_table;
    a.known = o.knows && o.in_sight;
    a.wait = r.attempt_timeout;
    a.kept = kept(a.wait);
    a.reported = r.operation_timeout;
    a.left = now_;
    u32* const place = find_tid(tid);
    require(*place == 0, "a transaction ID that was used", tid);
    *place = i + 1;
    flight_.push_back(i);
    a.in_flight_at_send = static_cast<unsigned>(flight_.size());
    if (r.in_flight != a.in_flight_at_send) {
        a.in_flight_at_send = r.in_flight;
        require(is_foggy() || in_on_time_ || certain() < flight_.size(), "another number in flight than was seen");
    }
    if (a.in_flight_at_send > mad::detail::window_control::few) last_among_many_ = i + 1;
    o.at = stage::under_way;
    o.attempts.push_back(i);
    ++o.tries;
    o.wants = false;
    o.started = false;
    o.period = a.kept;
    time_set_ = false;
    allow_tries(o);
    if (!o.measured) {
        require(r.attempt_timeout == timeout_of(o, o.tries) || o.vague || o.to->counts, "another timeout than its own");
        duration left = timeout_of(o, o.tries);
        for (unsigned n = o.tries + 1; n <= o.retries + 1u; ++n) left += timeout_of(o, n);
        require(r.operation_timeout == left || o.vague || o.to->counts, "what remains of its time", u64(left.count()));
    } else {
        require(r.operation_timeout == options_.patience.first_patience,
                "another time than a target has that never answered");
    }
    return i;
}

/// Records that the transport has accepted an attempt.
inline void engine_model::take(model_operation& o, u32 i) {
    if (interval_ != duration{0}) due_ = std::max(due_, now_) + interval_;
    blocked_ = none;
    model_attempt& a = attempts_[i];
    const bool first = o.times_sent++ == 0;
    o.started = a.started = false;
    time_set_ = false;
    ++reported_[first ? 0 : 1];
    if (!o.expects_reply) {
        ++count_.unanswered;
        become(i, state::returned);
        return make_ready(o, completion_status::sent, 0, ++batches_);
    }
    ++(first ? count_.sent : count_.retried);
    a.what = state::sent;
    a.left = now_;
    a.timed = has_clock_;
    if (has_clock_) a.sent = model_clock();
    if (o.to->counts) {
        const unsigned n = held_by(*o.to);
        // The engine sends all retries that are due at one time, even if a single retry would have used the last space.
        require(!first || !o.bounded || n < o.to->bound, "more than its target may hold", n, o.to->bound);
        held_.push_back(i);
    }
    on_sent(i);
}

/// Records that the transport has refused an attempt.
inline void engine_model::refuse(model_operation& o, u32 i) {
    blocked_ = none;
    ++(o.times_sent ? count_.lost : count_.send_failed);
    become(i, state::returned);
    make_ready(o, completion_status::send_failed, refusal, ++batches_);
}

/// Counts the claims against the bound of a destination: operations from their first attempt on, and attempts in flight
/// whose operation has ended. `at_most`: returns the largest possible number.
inline unsigned engine_model::claims(const model_target& to, bool at_most) const {
    unsigned n = 0;
    for (u32 slot : pending_) {
        const model_operation& o = ops_[slot];
        if (o.to != &to || !o.bounded) continue;
        n += o.at == stage::under_way;
        if (at_most && o.at == stage::ready) n += 1 + static_cast<unsigned>(o.attempts.size());
    }
    for (u32 i : flight_) {
        const model_attempt& a = attempts_[i];
        n += a.to == &to && a.op == none && a.bounded && (at_most || !a.may_be_lost);
    }
    if (!at_most) return n;
    for (u32 i : held_) n += attempts_[i].to == &to && attempts_[i].what != state::gone;
    for (u32 i : behind_) {
        const model_attempt& a = attempts_[i];
        n += a.what == state::returned && a.to == &to && a.bounded;
    }
    return n;
}

/// Counts attempts at a target with counts_attempts that have neither a reply nor expired.
inline unsigned engine_model::held_by(const model_target& to) const {
    unsigned n = 0;
    for (u32 i : held_) {
        const model_attempt& a = attempts_[i];
        const bool is_there = a.is_on_wire() || a.what == state::lost;
        n += a.to == &to && is_there && a.bounded && now_ < a.left + a.reported;
    }
    return n;
}

/// Returns true if the operation certainly waits only for space in the window.
inline bool engine_model::can_go(const model_operation& o) const {
    if (o.at == stage::waiting) return !o.bounded || claims(*o.to, true) < o.to->bound;
    if (o.at != stage::under_way || o.vague || o.to->counts) return false;
    if (!o.measured) return o.wants;
    const model_attempt& latest = attempts_[o.latest_attempt()];
    if (o.tries >= o.least_tries) return false;
    return latest.what == state::lost || latest.what == state::backed_off ||
           (latest.what == state::returned && latest.over);
}

/// Returns true if the window certainly has space.
inline bool engine_model::has_place() const {
    if (is_foggy() || !is_rate_open() || certain() < flight_.size()) return false;
    const unsigned n = engine_->in_flight(), limit = engine_->window(), timely_now = timely();
    if (timely_now == flight_.size()) return n < limit;
    if (timely_now == 0) return n <= limit;
    return n < limit && probing_ == 0;
}

/// Checks that no operation waits while the window has space.
inline void engine_model::check_nothing_waits() {
    if (has_failed() || engine_->has_ready() || !has_place()) return;
    for (u32 slot : pending_) require(!can_go(ops_[slot]), "it waits, and there is a place", ops_[slot].number);
}

/// Checks that an operation with a late attempt sends a probe if all attempts are late.
inline void engine_model::check_probe_went() {
    if (flight_.empty() || timely() > 0 || !has_place()) return;
    for (u32 slot : pending_) {
        const model_operation& o = ops_[slot];
        if (!o.measured || o.at != stage::under_way || o.vague || o.tries >= o.least_tries) continue;
        require(attempts_[o.latest_attempt()].what != state::late, "all is late, and nothing goes to see", o.number);
    }
}

// ---- MADs in flight --------------------------------------------------------------------------------------------------

/// Removes an attempt from the attempts in flight.
inline void engine_model::leave_flight(u32 i) {
    std::erase(flight_, i);
    if (timely() == 0) probing_ = 0;
}

/// Changes the state of an attempt.
inline void engine_model::become(u32 i, state what) {
    model_attempt& a = attempts_[i];
    const bool counted = a.is_on_wire() || a.what == state::blocked;
    if (i == blocked_) blocked_ = none;
    a.what = what;
    a.may_be_lost = false;
    if (counted && !a.is_on_wire()) leave_flight(i);
    if (what != state::lost && !a.is_on_wire()) std::erase(held_, i);
}

/// Marks an attempt as finished: a message with its transaction ID belongs to no operation.
inline void engine_model::forget(u32 i) {
    become(i, state::gone);
    model_attempt& a = attempts_[i];
    if (a.op != none) std::erase(ops_[a.op].attempts, i);
    a.op = none;
}

/// Marks an attempt as late.
inline void engine_model::be_late(u32 i) {
    model_attempt& a = attempts_[i];
    note("is late, of operation", i, a.number);
    a.over = was_due_ = true;
    if (!a.timed) a.sent = a.start;
    a.timed = true;
    if (a.what != state::sent) return;
    a.what = state::late;
    a.late_at = a.alone = now_;
    a.stall = least_stall(a);
    a.unseen = unseen_;
    if (timely() == 0) probing_ = 0;
    if (!a.measured) become(i, state::lost); // an operation with a timeout defines when a MAD is lost
}

/// Marks the attempts in flight as late whose deadline has passed.
inline void engine_model::expire_attempts() {
    for (std::size_t at = 0; at < flight_.size();) {
        const u32 i = flight_[at];
        const model_attempt& a = attempts_[i];
        if (a.what == state::sent && a.started && now_ >= a.start + a.kept) be_late(i);
        if (at < flight_.size() && flight_[at] == i) ++at;
    }
    for (u32 slot : pending_) {
        const model_operation& o = ops_[slot];
        if (o.at != stage::under_way || o.attempts.empty()) continue;
        model_attempt& a = attempts_[o.attempts.back()];
        if (a.what != state::returned || !a.started || now_ < a.start + a.kept) continue;
        a.over = true;
        if (!std::exchange(a.timed, true)) a.sent = a.start;
    }
}

/// Marks late attempts as lost if a MAD that was sent later has a reply.
inline void engine_model::lose_before_answered() {
    for (std::size_t at = flight_.size(); at-- > 0;) {
        const u32 i = flight_[at];
        if (attempts_[i].what != state::late) continue;
        if (i + 1 < answered_) become(i, state::lost);
        else if (i + 1 < perhaps_answered_) attempts_[i].may_be_lost = true;
    }
}

/// Finds attempts that have been late for a whole stall. These attempts may be lost. Later they are lost even if no
/// other MAD gets a reply. `was_reported`: the time was also reported to the engine.
inline void engine_model::find_stalls(bool was_reported) {
    bool passed = false;
    for (u32 slot : pending_) {
        model_operation& o = ops_[slot];
        if (!o.measured || o.at != stage::under_way || o.attempts.empty()) continue;
        const model_attempt& latest = attempts_[o.latest_attempt()];
        if (latest.what != state::late || now_ - latest.sent - latest.wait < least_stall(latest)) continue;
        passed = true;
        doubt_stall(o, was_reported);
    }
    for (std::size_t at = flight_.size(); at-- > 0;) {
        const u32 i = flight_[at];
        if (attempts_[i].op == none && attempts_[i].what == state::late) doubt_orphan(attempts_[i], i);
    }
    // After the first stall, stalls of targets without a reply are shorter.
    if (passed && !std::exchange(stall_passed_, true)) find_stalls(was_reported);
}

/// Marks late attempts of an operation as lost, or as possibly lost, after a stall.
inline void engine_model::doubt_stall(model_operation& o, bool was_reported) {
    const model_attempt& latest = attempts_[o.latest_attempt()];
    const duration late_for = now_ - latest.sent - latest.wait;
    const bool is_certain =
        late_for > rounded_up(longest_stall) + (unseen_ - latest.unseen) && !o.vague && was_reported;
    for (std::size_t at = o.attempts.size(); at-- > 0;) {
        const u32 i = o.attempts[at];
        if (attempts_[i].what != state::late) continue;
        // Excludes an attempt whose reply has started since then. If two attempts become late at one time, the engine
        // may process either attempt first.
        const bool was_late_then = i == o.latest_attempt() || attempts_[i].late_at < latest.late_at;
        if (is_certain && was_late_then) become(i, state::lost);
        else attempts_[i].may_be_lost = true;
    }
}

/// Marks a late attempt without an operation as lost, or as possibly lost, after a stall.
inline void engine_model::doubt_orphan(model_attempt& a, u32 i) {
    if (a.late_at == now_) a.stall = std::min(a.stall, least_stall(a));
    const duration since = now_ - a.sent;
    const bool was_looked_at = now_ - a.alone > 2us + (unseen_ - a.unseen);
    if (since > rounded_up(a.reported) + (unseen_ - a.unseen) && was_looked_at) {
        note("forgotten", i);
        return become(i, state::lost);
    }
    if (since >= a.reported || now_ - a.late_at >= std::min(a.stall, least_stall(a))) a.may_be_lost = true;
}

/// Adopts the engine's number in flight if this number leaves only one possibility.
inline void engine_model::settle_doubts() {
    const unsigned sure = certain();
    if (is_foggy() || sure == flight_.size()) return;
    if (engine_->in_flight() == flight_.size()) {
        for (u32 i : flight_) attempts_[i].may_be_lost = false;
    } else if (engine_->in_flight() == sure) {
        for (std::size_t at = flight_.size(); at-- > 0;)
            if (attempts_[flight_[at]].may_be_lost) become(flight_[at], state::lost);
    }
}

// ---- ends of operations ----------------------------------------------------------------------------------------------

/// Handles the periods of all operations that have passed.
inline void engine_model::pass_periods() {
    for (u32 slot : pending_) {
        model_operation& o = ops_[slot];
        if (o.at != stage::under_way || !o.started || now_ < o.start + o.period) continue;
        pass_period(o);
    }
}

/// Handles the end of an operation's current period.
inline void engine_model::pass_period(model_operation& o) {
    if (!o.vague && (!o.measured || attempts_[o.latest_attempt()].what == state::backing_off)) was_due_ = true;
    model_attempt& latest = attempts_[o.latest_attempt()];
    if (latest.what == state::backing_off) { // a BUSY reply does not count as a failed attempt
        latest.what = state::backed_off;
        --o.tries;
        o.started_at = now_;
        o.unseen = unseen_;
        o.wants = true;
        o.started = false;
        o.period = kept(timeout_of(o, o.tries));
        o.vague |= o.to->counts;
        return;
    }
    if (o.measured) return;
    note("a period is over", o.number, o.tries);
    o.started = false;
    if (o.wants) { // it had no space during the whole period
        ++o.tries;
        o.counted_in = polls_;
    }
    o.period = latest.what == state::blocked ? latest.kept : kept(timeout_of(o, o.tries));
    if (o.tries > o.retries) {
        o.must_end = true;
        o.wants |= o.vague;
    } else if (latest.what == state::blocked) {
        ++o.tries;
    } else {
        o.wants = true;
        o.vague |= o.to->counts; // its destination may have no space
    }
}

/// Checks that the engine may time out an operation now.
inline void engine_model::check_patience(const model_operation& o) {
    const duration waited = now_ - (o.in_sight && !o.vague ? o.started_at : o.submitted);
    if (!o.measured) {
        const duration least = (o.retries + 1) * kept(o.timeout);
        require(o.must_end || o.vague || o.at == stage::waiting, "given up too early", o.number, o.tries);
        require(now_ - o.submitted >= least, "given up before all its timeouts");
        return;
    }
    const bool is_blocked = o.latest_attempt() != none && attempts_[o.latest_attempt()].what == state::blocked;
    const bool may_be_vague = o.vague || !o.in_sight || o.at == stage::waiting || is_blocked;
    require(!o.knows || may_be_vague || o.tries >= o.least_tries, "given up before it had its attempts", o.tries,
            o.least_tries);
    const duration longest = engine_->measured().expect(o.destination, o.distance).patience;
    const unsigned allowed = engine_->losses().attempts(o.knows, o.patience > duration{0});
    const bool is_hurried = o.patience > duration{0} && (o.tries >= allowed || o.vague || o.at == stage::waiting);
    const duration own = std::max(o.patience, 3 * engine_->measured().slowest());
    const duration least = is_hurried ? std::min(own, longest) : longest;
    require(waited >= least, "given up before its patience was over", u64(waited.count()), u64(least.count()));
}

/// Checks that no operation remains that should have ended.
inline void engine_model::check_all_ended() {
    for (u32 slot : pending_) {
        model_operation& o = ops_[slot];
        if (is_foggy() &&
            o.counted_in == polls_) { // it may have started after the attempt that the transport did not accept
            o.vague = true;
            o.must_end = false;
        }
        if (o.at != stage::under_way || o.vague || o.attempts.empty()) continue;
        require(!o.must_end, "it has not ended, and all its timeouts are over", o.number);
        if (!o.measured) continue;
        const auto expected = engine_->measured().expect(o.destination, o.distance);
        o.longest_patience = std::max(o.longest_patience, expected.patience);
        o.slowest = std::max(o.slowest, engine_->measured().slowest());
        const model_attempt& latest = attempts_[o.latest_attempt()];
        const bool is_over = latest.started && now_ > latest.start + latest.kept;
        if (!is_over || latest.what == state::backing_off || latest.what == state::blocked) continue;
        // An operation gets all its attempts if its target replied before, and has no time limit while it waits for space.
        const bool may_wait = !latest.is_on_wire() || latest.may_be_lost;
        if ((o.knows || may_wait) && o.tries < o.most_tries) continue;
        const bool is_hurried = o.patience > duration{0} && o.tries >= o.most_tries;
        const duration own = std::max(o.patience, 3 * o.slowest);
        const duration most = is_hurried ? std::min(own, o.longest_patience) : o.longest_patience;
        const duration waited = now_ - o.started_at - (unseen_ - o.unseen) - o.paused;
        require(waited <= rounded_up(most), "it has not ended, and its patience is over", o.number,
                u64(waited.count()));
    }
}

/// Expects that the operation ends in this call.
inline void engine_model::end(model_operation& o, completion_status how, int error, u32 answered) {
    if (answered != none) forget(answered);
    close(o);
    o.at = stage::ending;
    o.how = how;
    o.error_expected = error;
    ending_ = o.slot;
}

/// Detaches the attempts of an operation, which may still get replies.
inline void engine_model::close(model_operation& o) {
    while (!o.attempts.empty()) {
        const u32 i = o.attempts.back();
        orphan(i);
        if (!o.attempts.empty() && o.attempts.back() == i) o.attempts.pop_back();
    }
    o.wants = o.must_end = false;
}

/// Detaches an attempt from its operation.
inline void engine_model::orphan(u32 i) {
    model_attempt& a = attempts_[i];
    if (!a.is_on_wire() && a.what != state::lost) return forget(i);
    a.op = none;
    a.alone = now_;
    a.unseen = unseen_;
}

/// Expects that the operation ends in a later run_ready().
inline void engine_model::make_ready(model_operation& o, completion_status how, int error, u64 batch) {
    o.at = stage::ready;
    o.wants = o.must_end = false;
    o.how = how;
    o.error_expected = error;
    o.batch = batch;
    ++ready_;
}

/// Checks the end of an operation that the engine reports.
inline void engine_model::finish(model_operation& o, const mad::completion& how) {
    note("ends as", o.number, u64(how.what));
    const bool was_ready = o.at == stage::ready;
    require(o.at == stage::ending || was_ready, "it ends twice, or too early", o.number, u64(how.what));
    if (has_failed()) return;
    if (was_ready) {
        require(may_finish_ > 0, "more end than were ready");
        for (u32 slot : pending_)
            require(ops_[slot].at != stage::ready || ops_[slot].batch >= o.batch,
                    "it ends before who was ready earlier");
        if (may_finish_) --may_finish_;
        --ready_;
        close(o);
    } else {
        require(ending_ == o.slot, "another ends");
        ending_ = none;
    }
    require(how.what == o.how, "it ends otherwise", u64(how.what), u64(o.how));
    require(how.attempts == o.times_sent, "another number of attempts", how.attempts, o.times_sent);
    require(how.error == o.error_expected, "another error", u64(how.error), u64(o.error_expected));
    if (o.how == completion_status::replied) {
        require(how.reply.data() == delivered_.mad.data() && how.reply.size() == delivered_.mad.size(),
                "another reply");
        require(how.source.SLID == delivered_.source.SLID, "a reply from elsewhere");
    }
    o.at = stage::idle;
    std::erase(pending_, o.slot);
    // The engine must no longer use these members, so the test may overwrite them.
    o.latest = o.destination_index = 0xdeadbeef;
    o.previous = o.next = nullptr;
    o.attempts.clear();
    on_end(o);
}

/// Updates the permitted number of attempts of an operation without a timeout.
inline void engine_model::allow_tries(model_operation& o) {
    if (!o.measured || o.at != stage::under_way) return;
    const unsigned now = engine_->losses().attempts(o.knows, o.patience > duration{0});
    o.most_tries = std::max(o.most_tries, now);
    o.least_tries = std::min(o.least_tries, now);
}

/// Checks a trace event and adopts decisions of the engine that become visible.
inline void engine_model::on_event(const mad::trace_event& e) noexcept {
    using kind = mad::trace_event::kind;
    require(e.when == now_, "an event of another time");
    switch (e.what) {
    case kind::send:
    case kind::retry: --reported_[e.what == kind::send ? 0 : 1]; break; // counted in advance below
    case kind::reply: --answers_to_report_; break;
    case kind::unexpected: ++reported_[4]; break;
    case kind::timed_out: {
        const u32 number = witness::number_of(e.request.data());
        model_operation& o = ops_[number % op_count()];
        require(o.number == number && o.is_open(), "given up, and it has ended", number);
        require(may_end_now_, "given up outside on_time()");
        if (has_failed()) return;
        check_patience(o);
        ++(o.times_sent ? count_.timed_out : count_.send_failed);
        if (o.measured && o.times_sent) {
            for (std::size_t at = o.attempts.size(); at-- > 0;) {
                const u32 i = o.attempts[at];
                if (attempts_[i].what != state::late) continue;
                // If two attempts became late at this time, the engine may have processed only one of them.
                if (attempts_[i].late_at == now_ && i != o.latest_attempt()) attempts_[i].may_be_lost = true;
                else become(i, state::lost);
            }
            trips_.given_up(o.destination);
            touched_ = o.to;
        }
        ended_in_it_ = true;
        end(o, completion_status::timed_out, 0, none);
        break;
    }
    default: require(false, "an event that is none of an engine's");
    }
}

// ---- replies ---------------------------------------------------------------------------------------------------------

/// Returns the entry of a transaction ID in the hash table, or the free entry for it.
inline u32* engine_model::find_tid(u32 tid) const {
    std::size_t at = (tid * 2654435761u) >> 18;
    while (tids_[at] != 0 && attempts_[tids_[at] - 1].tid != tid) at = (at + 1) & (tids_.size() - 1);
    return &tids_[at];
}

inline bool engine_model::is_clear(u32 i, model_delivery::kind what) const {
    const model_attempt& a = attempts_[i];
    if (a.op == none && a.what == state::returned) return what == model_delivery::kind::reply;
    if (a.op == none && a.what == state::lost && i + remembered <= attempts_.size())
        return what == model_delivery::kind::reply;
    if (a.op == none) return true;
    // The transport has forgotten the request and does not report the reply.
    if (a.to->counts && now_ >= a.left + a.reported) return false;
    if (a.what == state::lost && i + remembered <= attempts_.size()) return false;
    const model_operation& o = ops_[a.op];
    if (o.at != stage::under_way) return true;
    return !(is_foggy() && (o.vague || o.wants || attempts_[o.latest_attempt()].over));
}

/// Writes the message of a delivery. Returns its bytes.
inline std::span<u8> engine_model::compose(const model_delivery& d) {
    using kind = model_delivery::kind;
    const model_attempt& a = attempts_[d.attempt];
    u8* const mad = bytes_.data() + mad::headroom;
    mad::write_request(mad, *a.to->kind, a.to->path, a.number);
    mad::set_low_tid(mad, d.what == kind::foreign ? d.noise : a.tid);
    if (d.what == kind::report || d.what == kind::failed_report)
        return {mad, d.noise % 2 ? std::size_t{24} : mad::mad_size};
    mad[3] = value(*mad::response_method(a.to->kind->method));
    if (mad[1] == 0x81) mad[4] |= 0x80;    // D: returning
    if (d.what == kind::busy) mad[5] |= 1; // IBA 13.4.7
    if (d.what == kind::response_report) return {mad, mad::mad_size};
    if (d.what == kind::garbled) {
        constexpr std::array<std::size_t, 5> at{0, 1, 3, 17, 23}; // version, class, method, attribute, modifier
        mad[at[d.noise % at.size()]] ^= 0x04;
    }
    if (d.what == kind::wrong_size) return {mad, 24 + d.noise % 100};
    if (d.what == kind::tiny) return {mad, d.noise % 24};
    return {mad, mad::mad_size};
}

/// Returns true if a reply to the attempt can be valid: the attempt was sent, and its operation still waits or the
/// engine remembers the attempt.
inline bool engine_model::is_answerable(const model_attempt& a) const {
    if (a.what != state::sent && a.what != state::late && a.what != state::lost && a.what != state::returned)
        return false;
    return a.op == none || ops_[a.op].at == stage::under_way;
}

/// Determines the effect of a message that the engine is about to receive.
inline void engine_model::expect_message(const model_delivery& d, std::size_t size) {
    using kind = model_delivery::kind;
    if (size < 24) {
        ++count_.malformed;
        ++tiny_;
        return;
    }
    const model_attempt& a = attempts_[d.attempt];
    if (d.what == kind::foreign || !is_answerable(a)) {
        ++count_.stale;
        return;
    }
    if (d.what == kind::wrong_size || d.what == kind::garbled || d.what == kind::stranger) {
        const bool is_directed = std::holds_alternative<IBDRPath>(a.to->path);
        const bool may_be_short = (a.op == none || a.takes_table) && !is_directed && size >= 36;
        const bool is_size = d.what == kind::wrong_size && !may_be_short;
        if (d.what != kind::wrong_size || is_size) {
            ++(is_size ? count_.malformed : count_.mismatched);
            return;
        }
    }
    if (a.op == none) {
        ++count_.stale;
        learn(d.attempt);
        return forget(d.attempt);
    }
    if (d.what == kind::part) return rearm(d.attempt, a.wait);
    ++answers_to_report_;
    model_operation& o = ops_[a.op];
    if (d.what == kind::busy && o.busy_used < o.busy_retries) return back_off(d.attempt);
    accept(d.attempt);
}

/// Expects that a reply to this attempt ends its operation.
inline void engine_model::accept(u32 i) {
    model_operation& o = ops_[attempts_[i].op];
    ++count_.replied;
    if (o.latest_attempt() != i) ++count_.late_replies;
    else if (is_foggy() && (o.vague || o.wants || attempts_[i].over)) ++more_late_;
    learn(i);
    end(o, completion_status::replied, 0, i);
}

/// Schedules the next attempt after a BUSY reply. The back-off is an eighth of the timeout. It doubles each time, up to
/// the whole timeout.
inline void engine_model::back_off(u32 i) {
    model_operation& o = ops_[attempts_[i].op];
    ++count_.busy;
    if (o.latest_attempt() != i) return forget(i);
    become(i, state::backing_off);
    const duration whole = o.measured ? options_.patience.patience : o.timeout;
    o.period = kept(whole / (o.busy_used < 3 ? 8 >> o.busy_used : 1));
    ++o.busy_used;
    o.started = false;
    o.wants = o.must_end = false;
}

/// Restarts the deadline of an attempt, with `wait` as its length.
inline void engine_model::rearm(u32 i, duration wait) {
    model_attempt& a = attempts_[i];
    if (!a.timed && a.started) {
        a.sent = a.start;
        a.timed = true;
    }
    const bool was_in_flight = a.is_on_wire();
    if (a.is_timely()) probing_ = 2;
    a.what = state::sent;
    a.may_be_lost = a.over = false;
    if (!was_in_flight) flight_.push_back(i);
    if (a.to->counts && std::find(held_.begin(), held_.end(), i) == held_.end()) held_.push_back(i);
    a.started = false;
    a.kept = kept(wait);
    model_operation& o = ops_[a.op];
    if (o.latest_attempt() != i) return;
    o.wants = o.must_end = false;
    o.started = false;
    o.period = a.kept;
}

/// Returns the round-trip time of an attempt whose reply arrives now; empty if unknown.
inline std::optional<duration> engine_model::round_trip_time(const model_attempt& a) const {
    if (a.timed) return std::max(now_ - a.sent, duration{0});
    if (a.what == state::sent && a.started) return now_ - a.start;
    return std::nullopt;
}

/// Updates the measurements after a reply: for earlier attempts, for the target, and for later attempts.
inline void engine_model::learn(u32 i) {
    model_attempt& a = attempts_[i];
    const bool is_returned = a.op == none && a.what == state::returned; // the engine may have forgotten it
    const bool is_forgotten = a.op == none && a.what == state::lost && i + remembered <= attempts_.size();
    if (is_forgotten || is_returned) {
        perhaps_answered_ = std::max(perhaps_answered_, i + 1);
        probing_ = 2;
    } else {
        answered_ = std::max(answered_, i + 1);
        probing_ = 0;
        stall_passed_ = false;
    }
    const bool was_lost = a.what == state::lost;
    // Without adaptation, the engine learns nothing from a reply to an operation with a timeout.
    const bool counts_spurious = a.measured || options_.max_outstanding == 0;
    if (was_lost && !is_forgotten && counts_spurious) ++count_.spurious;
    else if (was_lost || a.may_be_lost) ++more_spurious_;
    if (!a.measured) return;
    if (a.may_be_lost || is_forgotten || is_returned) taught_ = false;
    if (a.op == none && engine_->measured().is_unresponsive(a.to->key)) {
        if (is_forgotten || is_returned) ++more_revived_;
        else ++count_.revived;
    }
    const std::optional<duration> time = round_trip_time(a);
    teach(i, time);
    if ((a.what == state::late || was_lost) && time && a.op != none) extend_later_deadlines(ops_[a.op], i, *time);
}

/// Adds a reply to the expected measurements.
inline void engine_model::teach(u32 i, std::optional<duration> time) {
    const model_attempt& a = attempts_[i];
    if (certain() < flight_.size()) taught_ = false;
    if (a.what == state::lost && a.known) trips_.on_spurious_loss();
    const unsigned late = count_flight([](const model_attempt& other) { return other.what == state::late; });
    if (a.what == state::late && late > 1 && time) trips_.on_stall(*time - a.wait);
    if (a.op != none) {
        for (u32 before : ops_[a.op].attempts) {
            if (before == i) break;
            const state what = attempts_[before].what;
            if (what == state::lost || what == state::returned || what == state::late) losses_.count_lost();
        }
    }
    losses_.count_answered();
    constexpr unsigned few = mad::detail::window_control::few;
    const bool is_uncrowded = a.in_flight_at_send <= few && last_among_many_ <= i + 1;
    if (time) trips_.answered(a.to->key, a.to->distance, *time, is_uncrowded);
    touched_ = a.to;
}

/// Extends the deadlines of later attempts after a late reply. The model expects that the target replies to its
/// requests one after the other. Each reply takes the measured time plus a quarter.
inline void engine_model::extend_later_deadlines(const model_operation& o, u32 answered, duration time) {
    const std::vector<u32> all = o.attempts;
    int behind = 0;
    for (u32 i : all) {
        if (i <= answered) continue;
        ++behind;
        const state what = attempts_[i].what;
        if (what == state::blocked || what == state::backing_off || what == state::backed_off) continue;
        rearm(i, time * behind + time / 4);
        attempts_[i].behind = true;
    }
}

/// Determines the effect of a report that the engine is about to receive.
inline void engine_model::expect_report(const model_delivery& d) {
    ++count_.expired_reports;
    if (d.what == model_delivery::kind::response_report) return;
    model_attempt& a = attempts_[d.attempt];
    if (!is_answerable(a) || a.what == state::returned) return;
    if (a.op == none) {
        if (!a.behind) return forget(d.attempt);
        behind_.push_back(d.attempt); // its target still processes the request
        return become(d.attempt, state::returned);
    }
    model_operation& o = ops_[a.op];
    if (o.latest_attempt() != d.attempt) return forget(d.attempt);
    if (d.what == model_delivery::kind::report) return become(d.attempt, state::returned);
    ++count_.lost;
    end(o, completion_status::send_failed, EIO, d.attempt);
}

// ---- invariants after each call --------------------------------------------------------------------------------------

/// Compares the state of the engine with the model.
inline void engine_model::check() {
    if (is_foggy()) {
        more_probes_ += pending_.size();
        for (u32 slot : pending_) {
            model_operation& o = ops_[slot];
            if (o.at == stage::waiting || o.wants || o.measured) o.vague = true;
        }
    }
    settle_doubts();
    if (const auto loss = static_cast<float>(engine_->losses().loss()); loss != last_loss_) {
        last_loss_ = loss;
        for (u32 slot : pending_) allow_tries(ops_[slot]);
    }
    compare_counters();
    compare_flight();
    compare_teachings();
    require(engine_->idle() == pending_.empty(), "idle or not", engine_->idle(), pending_.size());
    require(engine_->has_ready() == (ready_ > 0), "ready or not", engine_->has_ready(), ready_);
}

/// Compares the counters of the engine with the permitted values.
inline void engine_model::compare_counters() {
    const mad::engine_counters& c = engine_->counters();
    const auto within = [&](u64& expected, u64& more, u64 seen, const char* name) {
        require(seen >= expected && seen <= expected + more, name, seen, expected);
        expected = seen;
        more = 0;
    };
    within(count_.probes, more_probes_, c.probes, "probes");
    within(count_.spurious, more_spurious_, c.spurious, "spurious");
    within(count_.revived, more_revived_, c.revived, "revived");
    within(count_.late_replies, more_late_, c.late_replies, "late_replies");
    const auto is = [&](u64 seen, u64 expected, const char* name) { require(seen == expected, name, seen, expected); };
    is(c.sent, count_.sent, "sent");
    is(c.retried, count_.retried, "retried");
    is(c.replied, count_.replied, "replied");
    is(c.timed_out, count_.timed_out, "timed_out");
    is(c.cancelled, count_.cancelled, "cancelled");
    is(c.lost, count_.lost, "lost");
    is(c.unanswered, count_.unanswered, "unanswered");
    is(c.send_failed, count_.send_failed, "send_failed");
    is(c.would_block, count_.would_block, "would_block");
    is(c.busy, count_.busy, "busy");
    is(c.stale, count_.stale, "stale");
    is(c.expired_reports, count_.expired_reports, "expired_reports");
    is(c.mismatched, count_.mismatched, "mismatched");
    is(c.malformed, count_.malformed, "malformed");
    is(reported_[0], 0, "sends in the trace");
    is(reported_[1], 0, "retries in the trace");
    is(reported_[4], c.stale + c.mismatched + c.malformed - tiny_, "unexpected MADs in the trace");
    is(answers_to_report_, 0, "replies in the trace");
}

/// Compares the number of MADs in flight.
inline void engine_model::compare_flight() {
    const unsigned n = engine_->in_flight();
    std::size_t hidden = 0;
    if (is_foggy()) hidden = pending_.size();
    require(n >= certain() && n <= flight_.size() + hidden, "in flight", n, flight_.size());
    const unsigned limit = engine_->window();
    const bool is_adaptive = options_.max_outstanding == 0;
    const unsigned most = std::min(is_adaptive ? engine_options::most_adaptive : options_.max_outstanding, max_window_);
    require(limit >= 1 && limit <= most, "the window", limit, most);
    if (!is_adaptive) require(limit == most, "a fixed window", limit, most);
    else if (options_.polite) require(limit <= mad::detail::window_control::most_polite, "a polite window", limit);
}

/// Compares the measurements of the latest target.
inline void engine_model::compare_teachings() {
    const model_target* const to = std::exchange(touched_, nullptr);
    if (!taught_ || !to) return;
    const auto expected = trips_.expect(to->key, to->distance),
               seen = engine_->measured().expect(to->key, to->distance);
    require(seen.deadline == expected.deadline, "the deadline of its target", u64(seen.deadline.count()),
            u64(expected.deadline.count()));
    require(seen.patience == expected.patience, "the patience with its target");
    require(seen.known == expected.known && seen.unresponsive == expected.unresponsive, "what is known of its target");
    require(engine_->measured().slowest() == trips_.slowest(), "the slowest round trip");
    require(engine_->losses().loss() == losses_.loss(), "the share that is lost");
}

/// Checks that the engine is idle and that its counters balance.
inline void engine_model::check_end() {
    const mad::engine_counters& c = engine_->counters();
    require(engine_->idle() && engine_->in_flight() == 0, "something is left", engine_->idle(), engine_->in_flight());
    require(c.sent == c.replied + c.timed_out + c.cancelled + c.lost, "the balance");
}

} // namespace comad::test
