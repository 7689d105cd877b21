// SPDX-License-Identifier: MIT
// engine.cpp - operations, their attempts and how they end. Two rules hold everywhere: a function updates the engine completely before it
// calls `done`, and neither cancel() nor withdraw() sends anything. engine_states.hpp has the tables of states and events.
#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/engine.hpp>

#include <bit>
#include <cassert>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <utility>

namespace comad::mad {

namespace {

unsigned checked_window(unsigned wanted, unsigned limit) {
    if (wanted == 0) wanted = engine_options::most_adaptive;
    if (wanted > 65536) throw std::invalid_argument("max_outstanding must be 1..65536, or 0 for an adaptive window");
    if (limit < 1) throw std::invalid_argument("the transport must allow at least one request in flight");
    return std::min(wanted, limit);
}

// Returns the number of attempts in the table: several times the window. Lost attempts are remembered, and operations on unresponsive
// destinations wait without taking space in the window.
u32 table_size_for(unsigned window) { return std::clamp(std::bit_ceil(8 * window), 1024u, 1u << 17); }

// If all attempts in flight are late, the fabric may be stalled for this time. After one stall without any reply, it is more likely that
// many unresponsive destinations follow one another, so the time becomes shorter.
constexpr duration longest_stall = std::chrono::milliseconds(100);
constexpr duration shortest_stall = longest_stall / 8;

duration times(duration d, unsigned factor) noexcept {
    duration::rep product = 0;
    const bool overflows = __builtin_mul_overflow(d.count(), duration::rep{factor}, &product);
    return overflows ? duration::max() : duration{product};
}

} // namespace

engine::engine(transport& t, engine_options options)
    : transport_(t), options_(options), window_(checked_window(options.max_outstanding, t.limits().max_window)),
      limit_(window_), attempts_(table_size_for(window_), options.seed), deadlines_(attempts_.size()),
      destinations_(attempts_.size()), max_parked_(std::max<std::size_t>(256, std::size_t{8} * window_)),
      trips_(options.patience, t.limits().timer_resolution), rate_(options.max_rate), stall_(longest_stall) {
    if (options.max_outstanding == 0) limit_ = control_.emplace(window_, options.polite).window();
}

engine::~engine() { assert(idle() && "an operation outlives its engine"); }

void engine::set_now(time_point now) noexcept {
    now_ = now;
    deadlines_.set_now(now);
}

// ---- starting operations and attempts ----------------------------------------------------------------------------------

void engine::submit(operation& o) noexcept {
    assert(o.state == operation_state::idle);
    assert((o.timeout.count() > 0 || o.destination != 0) && "an operation without a timeout needs a destination");
    o.attempts = o.sent = 0;
    if (may_launch() && !has_waiting()) return try_launch(o);
    o.state = operation_state::queued;
    queue_.push_back(o);
}

// Starts attempts in the order of age: retries, then probes, then operations parked at their destination, then queued ones.
void engine::launch_more() noexcept {
    while (may_launch()) {
        if (operation* o = retry_queue_.pop_front()) {
            o->state = operation_state::in_flight;
            exclude_queue_time(*o);
            begin_attempt(*o);
        } else if (!late_.empty() && timely_ == 0 && probe()) {
            continue;
        } else if (operation* freed = destinations_.next_free([this](const operation& f) { return bound_of(f); })) {
            launch(*freed, freed->destination_index);
        } else if (operation* oldest = queue_.pop_front()) {
            try_launch(*oldest);
        } else {
            return;
        }
    }
}

// Starts the operation, or parks it if its destination is at its bound.
void engine::try_launch(operation& o) noexcept {
    const unsigned bound = bound_of(o);
    if (bound == 0) return launch(o, none);
    const u32 index = destinations_.find_or_make(o.destination);
    if (destinations_.claims(index) < bound) return launch(o, index);
    o.state = operation_state::parked;
    destinations_.park(o, index);
}

void engine::launch(operation& o, u32 destination) noexcept {
    o.state = operation_state::in_flight;
    o.destination_index = destination;
    if (destination != none) destinations_.claim(destination);
    o.latest = none;
    o.busy_replies = 0;
    o.has_started = o.wants_attempt = o.is_known = o.is_unresponsive = false;
    if (is_measured(o)) {
        const rtt_estimator::expectation expected = trips_.expect(o.destination, o.distance);
        o.deadline = expected.deadline;
        o.is_known = expected.known;
        o.is_unresponsive = expected.unresponsive;
    }
    ++with_attempts_;
    begin_attempt(o);
    if (control_ && in_flight_ >= limit_) control_->full();
}

// Sends a probe for the operation that has waited longest for a retry, because all attempts in flight are late.
bool engine::probe() noexcept {
    for (u32 i = late_.front; i != none; i = attempts_[i].next) {
        operation* const o = attempts_[i].owner;
        if (!o || !o->wants_attempt) continue;
        begin_attempt(*o);
        return true;
    }
    return false;
}

// ---- attempts ----------------------------------------------------------------------------------------------------------

// Starts an attempt. Each attempt has its own transaction ID: kernels reject an ID that is still outstanding, and a late reply identifies
// its attempt.
void engine::begin_attempt(operation& o) noexcept {
    const u32 i = attempts_.take([this](u32 forgotten) {
        if (operation* const owner = attempts_[forgotten].owner) unlink_earlier(*owner, forgotten);
    });
    if (o.latest != none) supersede(o);
    attempt& a = attempts_[i];
    a.owner = &o;
    a.earlier = std::exchange(o.latest, i);
    ++o.attempts;
    o.wants_attempt = false;
    a.destination = is_measured(o) ? o.destination : 0;
    a.distance = o.distance;
    a.claimed = none;
    a.flags = {.known_destination = o.is_known,
               .alone_at_destination = o.destination_index != none && destinations_.claims(o.destination_index) == 1};
    a.sequence = ++sequence_;
    a.state = state::blocked;
    ++in_flight_;
    if (++timely_ == 1 && !late_.empty()) {
        probing_ = true;
        ++counters_.probes;
    }
    a.in_flight_at_send = static_cast<u16>(std::min(in_flight_, 65535u));
    if (a.in_flight_at_send > detail::window_control::few) last_among_many_ = a.sequence;
    a.timeout = attempt_timeout(o);
    a.transport_timeout = transport_timeout_of(o);
    deadlines_.arm(i, a.timeout); // also before it is sent, because the transport may block forever
    if (holding_ || !blocked_.empty() || !offer(i)) attempts_.push_back(blocked_, i);
}

// Makes the latest attempt an earlier one, because a new attempt starts.
void engine::supersede(operation& o) noexcept {
    const u32 i = o.latest;
    attempt& a = attempts_[i];
    deadlines_.disarm(i);
    if (a.state == state::returned || a.state == state::backed_off) {
        o.latest = a.earlier;
        attempts_.release(i);
    } else if (a.state == state::lost && o.counts_attempts) {
        claim(a, o.destination_index);
        a.flags.counts_until_forgotten = true;
        deadlines_.arm(i, remaining_transport_timeout(a));
    } else if (a.state == state::lost) {
        attempts_.remember(i);
    }
}

duration engine::attempt_timeout(const operation& o) const noexcept {
    return is_measured(o) ? measured_timeout(o) : fixed_timeout(o, o.attempts);
}

// Returns the timeout of an operation with measured times. Requests that were lost together get different retry intervals, so that they
// do not collide again.
duration engine::measured_timeout(const operation& o) const noexcept {
    const duration apart = o.attempts > 1 ? o.deadline / 32 * (o.latest % 8) : duration{0};
    return std::min((o.deadline + apart) * retry_policy_.backoff(o.attempts), options_.patience.longest_deadline);
}

duration engine::fixed_timeout(const operation& o, unsigned attempts) noexcept {
    return o.longest_timeout <= o.timeout ? o.timeout : growing_timeout(o, attempts);
}

duration engine::growing_timeout(const operation& o, unsigned attempts) noexcept {
    constexpr unsigned per_octave = 2, most_octaves = 16;
    const unsigned octaves = attempts > 0 ? std::min((attempts - 1) / per_octave, most_octaves) : 0;
    return std::min(times(o.timeout, 1u << octaves), o.longest_timeout);
}

// Returns how long the transport should accept a reply to an attempt: until the last attempt expires.
duration engine::transport_timeout_of(const operation& o) const noexcept {
    if (is_measured(o)) return options_.patience.first_patience;
    const unsigned last = o.retries + 1u;
    if (o.longest_timeout <= o.timeout) return times(o.timeout, o.attempts < last ? last + 1 - o.attempts : 1);
    return sum_of_growing_timeouts(o, last);
}

duration engine::sum_of_growing_timeouts(const operation& o, unsigned last) noexcept {
    duration total{0};
    for (unsigned n = o.attempts; n <= std::max<unsigned>(o.attempts, last); ++n)
        total += std::min(growing_timeout(o, n), duration::max() - total);
    return total;
}

duration engine::remaining_transport_timeout(const attempt& a) const noexcept {
    return a.flags.timed ? std::max(a.transport_timeout - (now_ - a.sent_at), duration{0}) : a.transport_timeout;
}

void engine::encode(operation& o, u32 i) noexcept {
    u8* const mad = packet_.data() + headroom;
    o.encode(o, mad);
    set_low_tid(mad, attempts_.tid(i));
}

// Passes the request to the transport. Returns false if the transport would block. If the transport rejects the request, the operation ends
// in the next run_ready(), not in this call.
bool engine::offer(u32 i) noexcept {
    attempt& a = attempts_[i];
    operation& o = *a.owner;
    encode(o, i);
    u8* const mad = packet_.data() + headroom;
    const bool timeout_is_estimate = is_measured(o) && !o.is_known && !retry_policy_.is_lossy();
    const send_request request{.path = o.path,
                               .mad = mad,
                               .size = mad_size,
                               .mgmt_class = mad[1],
                               .class_version = mad[2],
                               .expects_reply = o.expects_reply,
                               .attempt_timeout = a.timeout,
                               .operation_timeout = a.transport_timeout,
                               .timeout_is_estimate = timeout_is_estimate,
                               .in_flight = in_flight_};
    const send_result result = transport_.send(request);
    if (result.state == send_state::would_block) {
        if (!std::exchange(a.flags.blocked_before, true)) ++counters_.would_block;
        return false;
    }
    if (result.state == send_state::failed) {
        ++(o.sent ? counters_.lost : counters_.send_failed);
        leave_flight(a);
        a.state = state::returned;
        make_ready(o, operation_state::ready_in_flight, completion_status::send_failed, result.error);
        return true;
    }
    rate_.sent(now_);
    const bool first = o.sent++ == 0;
    if (trace_) [[unlikely]]
        emit_trace(first ? trace_event::kind::send : trace_event::kind::retry, i);
    if (!o.expects_reply) {
        ++counters_.unanswered;
        leave_flight(a);
        a.state = state::returned;
        make_ready(o, operation_state::ready_in_flight, completion_status::sent);
        return true;
    }
    ++(first ? counters_.sent : counters_.retried);
    a.reply = pattern_of_reply(mad, *o.path);
    a.state = state::sent;
    a.flags.timed = clock_ != nullptr;
    if (clock_) a.sent_at = clock_();
    if (deadlines_.started(i)) { // it was blocked; the deadline counts from now
        deadlines_.disarm(i);
        deadlines_.arm(i, a.timeout);
    }
    return true;
}

void engine::resume_sends() noexcept {
    while (!blocked_.empty()) {
        const u32 i = blocked_.front;
        attempts_.unlink(blocked_, i);
        if (!offer(i)) {
            attempts_.push_front(blocked_, i);
            return;
        }
    }
    if (has_waiting()) launch_more();
}

std::optional<duration> engine::round_trip_time(u32 i) const noexcept {
    const attempt& a = attempts_[i];
    if (a.flags.timed) return std::max(now_ - a.sent_at, duration{0});
    if (a.state == state::sent && deadlines_.started(i)) return now_ - deadlines_.started_at(i);
    return std::nullopt;
}

// Stores the time of sending, before the deadline is armed again.
void engine::note_sent_at(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (a.flags.timed || !deadlines_.started(i)) return;
    a.sent_at = deadlines_.started_at(i);
    a.flags.timed = true;
}

// ---- deadlines and losses ----------------------------------------------------------------------------------------------

void engine::on_time() noexcept {
    for (u32 i; (i = deadlines_.expire(now_)) != detail::deadlines::no_slot;) on_deadline(i);
    while (!late_.empty() && attempts_[late_.front].sequence < last_answered_) declare_lost(late_.front);
    launch_more(); // max_rate may have delayed some
}

// Handles a deadline that has passed. It was armed for the attempt's reply, or later for what its operation waits for.
void engine::on_deadline(u32 i) noexcept {
    attempt& a = attempts_[i];
    note_sent_at(i);
    if (a.state == state::sent) return on_late(i);
    if (!a.owner) return forget(i);
    operation& o = *a.owner;
    if (o.latest != i) { // an earlier attempt that the engine stops waiting for
        unlink_earlier(o, i);
        a.owner = nullptr;
        return forget(i);
    }
    note_start(o, a);
    if (a.state == state::backing_off) {
        a.state = state::backed_off;
        --o.attempts; // a BUSY reply does not count as a failed attempt
        o.started = now_;
        o.has_started = true;
    }
    if (o.state == operation_state::retry_queued) { // no space in the window since it was queued
        exclude_queue_time(o);
        if (is_measured(o) && has_attempts_left(o)) { // it keeps its position in the queue
            o.retry_queued_since = now_;
            return deadlines_.arm(i, longest_stall);
        }
        retry_queue_.remove(o);
        o.state = operation_state::in_flight;
        if (!is_measured(o)) ++o.attempts;
    }
    on_attempt_expired(o);
}

void engine::on_late(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (--timely_ == 0) probing_ = false;
    a.state = state::late;
    attempts_.insert_in_order(late_, i);
    operation* const o = a.owner;
    if (a.destination == 0) declare_lost(i); // the caller's timeout defines when an attempt is lost
    else if (!o) deadlines_.arm(i, std::min(remaining_transport_timeout(a), stall_limit(a)));
    if (!o || o->latest != i) return;
    note_start(*o, a);
    on_attempt_expired(*o);
}

void engine::note_start(operation& o, const attempt& first) noexcept {
    if (o.has_started || o.attempts != 1) return;
    o.started = first.sent_at;
    o.has_started = true;
}

// Counts a late attempt as lost, because a later one was replied to, or because it has been late for too long.
void engine::declare_lost(u32 i) noexcept {
    attempt& a = attempts_[i];
    attempts_.unlink(late_, i);
    --in_flight_;
    a.state = state::lost;
    count_lost(a);
    operation* const o = a.owner;
    if (o && o->latest == i) {
        if (o->wants_attempt) queue_retry(*o);
    } else if (a.flags.counts_until_forgotten) {
        if (!deadlines_.armed(i)) deadlines_.arm(i, remaining_transport_timeout(a));
    } else {
        deadlines_.disarm(i);
        release_claim(a);
        attempts_.remember(i);
    }
}

void engine::count_lost(attempt& a) noexcept {
    if (!control_ || !a.flags.known_destination || std::exchange(a.flags.counted_lost, true)) return;
    control_->lost(in_flight_during(a));
    limit_ = control_->window();
}

void engine::queue_retry(operation& o) noexcept {
    o.wants_attempt = false;
    o.state = operation_state::retry_queued;
    o.retry_queued_since = now_;
    retry_queue_.push_back(o);
}

// Excludes the time in the retry queue from the time limit of an operation.
void engine::exclude_queue_time(operation& o) const noexcept {
    if (o.has_started) o.started += now_ - o.retry_queued_since;
}

// Starts another attempt, or gives the operation up: its latest attempt expired, or its time limit has passed.
void engine::on_attempt_expired(operation& o) noexcept {
    attempt& a = attempts_[o.latest];
    if (is_measured(o)) {
        duration left = time_limit(o) - (o.has_started ? now_ - o.started : duration{0});
        if (left.count() <= 0) {
            if (!o.is_known || a.state == state::blocked || !has_attempts_left(o)) return give_up(o);
            // It gets all of its attempts, even if too few replies arrive to show which ones are lost.
            left = longest_stall;
        }
        // By then, the loss rate may have risen, and with it the number of attempts.
        duration again = o.has_started ? std::max(now_ - o.started, o.deadline) : left;
        if (a.state == state::late) {
            const duration late_for = now_ - a.sent_at - a.timeout;
            if (late_for < stall_limit(a)) again = std::min(again, stall_limit(a) - late_for);
            else on_stall_over(o);
        }
        deadlines_.arm(o.latest, std::min(left, again));
    } else {
        if (o.attempts > o.retries) return give_up(o);
        deadlines_.arm(o.latest, a.state == state::blocked ? a.timeout : attempt_timeout(o));
    }
    if (a.state == state::blocked) {
        if (!is_measured(o)) ++o.attempts;
        return;
    }
    if (!has_attempts_left(o)) return;
    if (a.state == state::late) {
        o.wants_attempt = true;
        return;
    }
    if (a.state == state::returned) count_lost(a);
    const bool is_bounded = o.counts_attempts && o.destination_index != none;
    const bool has_claim_left = !is_bounded || destinations_.claims(o.destination_index) < bound_of(o);
    if (has_claim_left) queue_retry(o);
    else ++o.attempts; // earlier attempts of this operation use up the destination's bound; this one counts as made
}

void engine::give_up(operation& o) noexcept {
    if (trace_) [[unlikely]]
        emit_trace(trace_event::kind::timed_out, o.latest);
    ++(o.sent ? counters_.timed_out : counters_.send_failed);
    if (o.sent && is_measured(o)) {
        trips_.given_up(o.destination);
        declare_late_lost(o);
    }
    end(o, {.what = completion_status::timed_out, .attempts = 0}, none);
}

duration engine::stall_limit(const attempt& a) const noexcept {
    return a.flags.known_destination ? longest_stall : stall_;
}

void engine::on_stall_over(operation& o) noexcept {
    if (attempts_[o.latest].sequence > last_stall_) {
        last_stall_ = sequence_;
        stall_ = std::max(stall_ / 2, shortest_stall);
    }
    declare_late_lost(o);
}

// Attempts that are late for so long are lost, even if no later attempt was replied to.
void engine::declare_late_lost(operation& o) noexcept {
    o.wants_attempt = false;
    for (u32 i = o.latest; i != none; i = attempts_[i].earlier)
        if (attempts_[i].state == state::late) declare_lost(i);
}

// Returns the time limit of an operation. An operation with a short time limit still makes all of its attempts, and waits longer than the
// slowest known destination, because its distance may be unknown.
duration engine::time_limit(const operation& o) const noexcept {
    constexpr int slower_than_slowest = 3;
    const duration usual = trips_.expect(o.destination, o.distance).patience;
    if (o.patience.count() == 0 || has_attempts_left(o)) return usual;
    return std::min(std::max(o.patience, slower_than_slowest * trips_.slowest()), usual);
}

bool engine::has_attempts_left(const operation& o) const noexcept {
    if (!is_measured(o)) return o.attempts <= o.retries;
    return o.attempts < retry_policy_.attempts(o.is_known && !o.is_unresponsive, o.patience.count() > 0);
}

// Stops waiting for an attempt that the transport has dropped.
void engine::forget(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (a.state == state::late) {
        attempts_.unlink(late_, i);
        --in_flight_;
        a.state = state::lost;
    }
    release_claim(a);
    if (a.state == state::lost) attempts_.remember(i);
    else attempts_.release(i);
}

// ---- replies -------------------------------------------------------------------------------------------------------------

void engine::on_received(const received& r) noexcept {
    if (r.state == receive_state::failed) return on_transport_failed(r.error);
    if (r.state != receive_state::message) return;
    if (r.mad.size() < 24) {
        ++counters_.malformed;
        return;
    }
    if (r.status != 0) return on_report(r);
    const u32 i = attempts_.find(low_tid(r.mad.data()));
    if (i == none || !may_be_answered(attempts_[i])) return on_unexpected(r, counters_.stale);
    attempt& a = attempts_[i];
    operation* const o = a.owner;
    // After the end of an operation, neither takes_table nor the rest of its route is known.
    const match m = match_reply(a.reply, r.mad, r.source.SLID, !o || o->takes_table);
    if (m == match::wrong_size) return on_unexpected(r, counters_.malformed);
    if (m != match::reply || (o && !return_path_matches(*o, r.mad))) return on_unexpected(r, counters_.mismatched);
    if (!o) {
        on_answered(i);
        drop(i);
        on_unexpected(r, counters_.stale);
        return launch_more();
    }
    if (r.is_part) return rearm(i, a.timeout); // a segment of the reply arrived: its deadline starts again
    if (trace_) [[unlikely]]
        emit_trace(trace_event::kind::reply, i, &r);
    if ((status_of(r.mad.data()) & iba::status_busy) && o->busy_replies < o->busy_retries) {
        back_off(i);
        return launch_more();
    }
    ++counters_.replied;
    if (o->latest != i) ++counters_.late_replies;
    on_answered(i);
    end(*o, {.what = completion_status::replied, .attempts = 0, .reply = r.mad, .source = r.source}, i);
}

// Compares all hops of a route. reply_pattern compares only the first seven.
bool engine::return_path_matches(const operation& o, std::span<const u8> reply) noexcept {
    const auto* route = reply[iba::offset_of<&iba::MADHeaderDirected::hopCount>] > 7 ? directed(*o.path) : nullptr;
    return !route || mad::return_path_matches(*route, reply);
}

bool engine::may_be_answered(const attempt& a) noexcept {
    const state s = a.state;
    const bool is_open = s != state::blocked && s != state::backing_off && s != state::backed_off;
    return is_open && (!a.owner || is_in_progress(*a.owner));
}

void engine::on_unexpected(const received& r, u64& counter) noexcept {
    ++counter;
    if (trace_) [[unlikely]]
        emit_trace(trace_event::kind::unexpected, none, &r);
}

// Handles a reply: updates the estimates of its destination, the loss rate, the deadlines of later attempts, and the window.
void engine::on_answered(u32 i) noexcept {
    attempt& a = attempts_[i];
    last_answered_ = std::max(last_answered_, a.sequence);
    probing_ = false;
    stall_ = longest_stall;
    const bool is_set = a.owner && a.owner->longest_timeout.count() > 0;
    if (a.destination != 0 || control_ || is_set) update_estimates(i, is_set);
}

void engine::update_estimates(u32 i, bool is_set) noexcept {
    attempt& a = attempts_[i];
    const std::optional<duration> time = round_trip_time(i);
    if (is_set && time) trips_.set_answered(a.owner->destination, *time);
    if (a.state == state::lost) {
        ++counters_.spurious;
        if (a.flags.known_destination) trips_.on_spurious_loss();
        if (a.flags.counted_lost) control_->on_spurious_loss(in_flight_during(a));
    }
    if (a.destination == 0) {
        if (control_) control_->answered(in_flight_during(a));
    } else {
        if (!a.owner && trips_.is_unresponsive(a.destination)) ++counters_.revived;
        const bool has_stalled = a.state == state::late && late_.front != late_.back;
        if (has_stalled && time) trips_.on_stall(*time - a.timeout);
        count_losses_before(a);
        if (time) add_sample(a, *time);
        if (control_) control_->answered(in_flight_during(a));
        const bool came_late = a.state == state::late || a.state == state::lost;
        if (came_late && time && a.owner) extend_later_deadlines(*a.owner, i, *time);
    }
    if (control_) limit_ = control_->window();
}

void engine::add_sample(const attempt& a, duration time) noexcept {
    const bool is_uncrowded = in_flight_during(a) <= detail::window_control::few;
    const duration baseline = trips_.answered(a.destination, a.distance, time, is_uncrowded);
    if (control_ && a.flags.alone_at_destination) control_->measured(time, baseline, a.in_flight_at_send);
}

// Returns the number of MADs in flight during an attempt. If many were in flight later, they may have delayed its reply too.
unsigned engine::in_flight_during(const attempt& a) const noexcept {
    return last_among_many_ > a.sequence ? std::max<unsigned>(a.in_flight_at_send, detail::window_control::few + 1)
                                         : a.in_flight_at_send;
}

void engine::count_losses_before(const attempt& answered) noexcept {
    for (u32 i = answered.owner ? answered.earlier : none; i != none; i = attempts_[i].earlier) {
        attempt& a = attempts_[i];
        // A late attempt is lost now, because a later one was replied to. It may not be in a list of lost attempts yet.
        if (a.state != state::lost && a.state != state::returned && a.state != state::late) continue;
        retry_policy_.count_lost();
        if (control_ && !std::exchange(a.flags.counted_lost, true))
            control_->lost(in_flight_during(a)); // its destination has replied now
    }
    retry_policy_.count_answered();
}

// Extends the deadlines of later attempts. A peer that takes longer than expected has probably received them too, and replies to one
// attempt after the other.
void engine::extend_later_deadlines(operation& o, u32 answered, duration time) noexcept {
    int behind = 0;
    for (u32 i = o.latest; i != answered; i = attempts_[i].earlier) ++behind;
    for (u32 i = o.latest; i != answered; i = attempts_[i].earlier, --behind) {
        const state s = attempts_[i].state;
        if (s == state::blocked || s == state::backing_off || s == state::backed_off) continue;
        rearm(i, time * behind + time / 4);
        attempts_[i].flags.queued_at_peer = true;
    }
}

// Counts the attempt as in time again, until `wait` has passed.
void engine::rearm(u32 i, duration wait) noexcept {
    attempt& a = attempts_[i];
    note_sent_at(i);
    remove_from_lists(i);
    if (control_ && std::exchange(a.flags.counted_lost, false)) control_->on_spurious_loss(in_flight_during(a));
    a.state = state::sent;
    ++in_flight_;
    ++timely_;
    deadlines_.disarm(i);
    deadlines_.arm(i, wait);
}

// Waits before the next attempt, because the peer is BUSY: an eighth of the timeout at first, then twice as long each time, up to the
// timeout. If a later attempt exists, its reply decides instead.
void engine::back_off(u32 i) noexcept {
    attempt& a = attempts_[i];
    operation& o = *a.owner;
    ++counters_.busy;
    if (o.latest != i) {
        unlink_earlier(o, i);
        return drop(i);
    }
    remove_from_lists(i);
    a.state = state::backing_off;
    const int halvings = std::max(0, 3 - o.busy_replies++);
    const duration whole = is_measured(o) ? options_.patience.patience : o.timeout;
    deadlines_.disarm(i);
    deadlines_.arm(i, whole / (1 << halvings));
    if (!control_) return;
    control_->busy();
    limit_ = control_->window();
}

// Handles a send that the transport returns: it expired there (kernels and ibsim report ETIMEDOUT), or could not be sent. If the attempt
// is not late yet, the retry still waits for its deadline: a transport with short timeouts must not cause faster retries.
void engine::on_report(const received& r) noexcept {
    ++counters_.expired_reports;
    if (is_response(r.mad)) return; // a reply that a server sent; its transaction ID belongs to its client
    const u32 i = attempts_.find(low_tid(r.mad.data()));
    if (i == none || !may_be_answered(attempts_[i]) || attempts_[i].state == state::returned) return;
    attempt& a = attempts_[i];
    operation* const o = a.owner;
    const bool was_late = a.state != state::sent;
    if (!o && a.flags.queued_at_peer) {
        remove_from_lists(i);
        a.state = state::returned; // the peer still processes it
    } else if (!o) {
        drop(i);
    } else if (o->latest != i) {
        unlink_earlier(*o, i);
        drop(i);
    } else if (r.status != ETIMEDOUT) {
        ++counters_.lost;
        return end(*o, {.what = completion_status::send_failed, .attempts = 0, .error = static_cast<int>(r.status)}, i);
    } else {
        const bool wants = o->wants_attempt || o->state == operation_state::retry_queued;
        remove_from_lists(i);
        a.state = state::returned;
        if (was_late) count_lost(a);
        if (wants) queue_retry(*o);
    }
    launch_more();
}

void engine::on_transport_failed(int error) noexcept {
    for (u32 i = 0; i < attempts_.size(); ++i) {
        attempt& a = attempts_[i];
        if (a.state == state::unused) continue;
        if (!a.owner) {
            drop(i);
            continue;
        }
        operation& o = *a.owner;
        remove_from_lists(i);
        a.state = state::returned;
        if (!is_in_progress(o)) continue;
        ++(o.sent ? counters_.lost : counters_.send_failed);
        make_ready(o, operation_state::ready_in_flight, completion_status::transport_failed, error);
    }
}

void engine::emit_trace(trace_event::kind what, u32 i, const received* r) noexcept {
    trace_event e{what, now_};
    if (i != none) {
        operation& o = *attempts_[i].owner;
        encode(o, i);
        e.request = std::span(packet_).subspan(headroom);
        e.path = o.path;
    }
    if (r) {
        e.mad = r->mad;
        e.source = &r->source;
    }
    trace_->on_event(e);
}

// ---- end of operations ---------------------------------------------------------------------------------------------------

// Ends an operation. The freed space is used before `done` runs, so that the window stays full while user code runs.
void engine::end(operation& o, completion&& how, u32 answered) noexcept {
    detach(o, answered);
    o.state = operation_state::idle;
    how.attempts = o.sent;
    if (has_waiting()) launch_more();
    o.done(o, how);
}

// Separates an operation from its attempts. They stay in the table, because they may still be replied to.
void engine::detach(operation& o, u32 answered) noexcept {
    if (o.state == operation_state::retry_queued) retry_queue_.remove(o);
    --with_attempts_;
    if (o.latest == answered && o.attempts == 1 && attempts_[answered].state == state::sent) {
        // The common case: the only attempt was replied to in time.
        leave_flight(attempts_[answered]);
        deadlines_.disarm(answered);
        attempts_.release(answered);
        if (o.destination_index != none) destinations_.release(o.destination_index);
        return;
    }
    for (u32 i = o.latest; i != none;) {
        const u32 earlier = attempts_[i].earlier;
        if (i == answered) {
            attempts_[i].owner = nullptr;
            drop(i);
        } else {
            orphan(o, i);
        }
        i = earlier;
    }
    if (o.destination_index != none) destinations_.release(o.destination_index);
}

void engine::orphan(const operation& o, u32 i) noexcept {
    attempt& a = attempts_[i];
    a.owner = nullptr;
    const bool counts = a.state == state::sent || a.state == state::late;
    const bool is_lost = a.state == state::lost;
    if (!counts && !is_lost) return drop(i);
    if (a.flags.remembered || a.flags.counts_until_forgotten) return;
    if (counts || o.counts_attempts) {
        claim(a, o.destination_index);
        a.flags.counts_until_forgotten = o.counts_attempts;
        if (a.state == state::sent) return; // its deadline stays armed
        deadlines_.disarm(i);
        deadlines_.arm(i, remaining_transport_timeout(a));
    } else {
        deadlines_.disarm(i);
        attempts_.remember(i);
    }
}

void engine::unlink_earlier(operation& o, u32 i) noexcept {
    u32* link = &o.latest;
    while (*link != i) link = &attempts_[*link].earlier;
    *link = attempts_[i].earlier;
}

// Removes the attempt from the flight, and from every list and queue. The caller sets the next state.
void engine::remove_from_lists(u32 i) noexcept {
    attempt& a = attempts_[i];
    switch (a.state) {
    case state::late: attempts_.unlink(late_, i); [[fallthrough]];
    case state::sent: leave_flight(a); break;
    case state::blocked:
        attempts_.unlink(blocked_, i);
        leave_flight(a);
        break;
    default: break;
    }
    if (a.flags.remembered) attempts_.recall(i);
    operation* const o = a.owner;
    if (!o || o->latest != i) return;
    o->wants_attempt = false;
    if (o->state == operation_state::retry_queued) {
        exclude_queue_time(*o);
        retry_queue_.remove(*o);
        o->state = operation_state::in_flight;
    }
}

// Frees the attempt.
void engine::drop(u32 i) noexcept {
    remove_from_lists(i);
    deadlines_.disarm(i);
    release_claim(attempts_[i]);
    attempts_.release(i);
}

void engine::claim(attempt& a, u32 destination) noexcept {
    a.claimed = destination;
    if (destination != none) destinations_.claim(destination);
}

void engine::release_claim(attempt& a) noexcept {
    if (a.claimed != none) destinations_.release(std::exchange(a.claimed, none));
}

void engine::make_ready(operation& o, operation_state to, completion_status how, int error) noexcept {
    if (to == operation_state::ready_in_flight) {
        if (o.state == operation_state::retry_queued) retry_queue_.remove(o);
        o.wants_attempt = false;
        deadlines_.disarm(o.latest);
    }
    o.state = to;
    o.ready_as = how;
    o.error = error;
    ready_.push_back(o);
    ++ready_count_;
}

void engine::run_ready() noexcept {
    // Operations that become ready in the meantime wait for the next call, so that the driver returns to its transport.
    for (std::size_t due = ready_count_; due > 0 && !ready_.empty(); --due) {
        operation& o = *ready_.pop_front();
        --ready_count_;
        if (o.state == operation_state::ready_in_flight) detach(o, none);
        o.state = operation_state::idle;
        launch_more();
        o.done(o, {.what = o.ready_as, .attempts = o.sent, .error = o.error});
    }
}

void engine::cancel(operation& o) noexcept {
    if (o.state == operation_state::idle || o.state == operation_state::ready ||
        o.state == operation_state::ready_in_flight)
        return;
    withdraw(o);
    make_ready(o, operation_state::ready, completion_status::cancelled);
}

void engine::withdraw(operation& o) noexcept {
    switch (o.state) {
    case operation_state::idle: break;
    case operation_state::queued: queue_.remove(o); break;
    case operation_state::parked: destinations_.withdraw(o); break;
    case operation_state::ready_in_flight: detach(o, none); [[fallthrough]];
    case operation_state::ready:
        ready_.remove(o);
        --ready_count_;
        break;
    case operation_state::in_flight:
    case operation_state::retry_queued:
        if (o.sent) ++counters_.cancelled;
        detach(o, none);
        break;
    }
    o.state = operation_state::idle;
}

} // namespace comad::mad
