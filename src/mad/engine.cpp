// SPDX-License-Identifier: MIT
// engine.cpp - slots, attempts, destinations. The rule everywhere: first bring the engine in order, then call `done`.
#include <comad/mad/engine.hpp>
#include <comad/mad/message.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace comad::mad {

namespace {

unsigned checked_window(unsigned wanted, unsigned limit) {
    if (wanted == 0) wanted = engine_options::most_adaptive;
    if (wanted > 65536)
        throw std::invalid_argument("max_outstanding must be between 1 and 65536, or 0 for an adaptive window");
    if (limit < 1) throw std::invalid_argument("the transport carries no request");
    return std::min(wanted, limit);
}

} // namespace

engine::engine(transport& t, engine_options options)
    : transport_(t), options_(options), window_(checked_window(options.max_outstanding, t.limits().max_window)),
      limit_(window_), slot_bits_(static_cast<unsigned>(std::bit_width(window_ - 1))), slots_(window_),
      deadlines_(window_), trips_(options.patience, t.limits().grain), rate_(options.max_rate), given_up_(window_),
      destinations_(window_), buckets_(std::bit_ceil(std::size_t{2} * window_), none),
      max_parked_(std::max<std::size_t>(256, std::size_t{8} * window_)) {
    if (options.max_outstanding == 0) limit_ = control_.emplace(window_, options.polite).window();
    for (u32 i = window_; i-- > 0;) {
        slots_[i].generation = options.seed;
        slots_[i].next_free = std::exchange(free_slot_, i);
        destinations_[i].next = std::exchange(free_destination_, i);
    }
}

engine::~engine() { assert(idle() && "an operation outlives its engine"); }

// ---- starting --------------------------------------------------------------------------------------------------

void engine::submit(op& o) noexcept {
    assert(o.where == op::place::nowhere);
    o.attempts = 0;
    assert((o.timeout.count() > 0 || o.destination != 0) && "without a timeout there is something to be measured");
    if (may_launch() && waiting_.empty()) {
        try_launch(o);
        return;
    }
    o.where = op::place::waiting;
    waiting_.push_back(o);
}

// False if its destination is at its bound: then the operation is parked there. Precondition: may_launch().
// Only operations that could have had a slot are parked, so they are older than all that wait for one.
bool engine::try_launch(op& o) noexcept {
    u32 index = none;
    const unsigned bound = o.destination_bound ? o.destination_bound : options_.per_destination;
    if (o.destination && bound && o.destination_bound != op::unbounded) {
        index = find_destination(o.destination);
        if (index == none) {
            index = make_destination(o.destination);
        } else if (destinations_[index].in_flight >= bound) {
            o.where = op::place::parked;
            o.index = index;
            destinations_[index].parked.push_back(o);
            ++parked_;
            return false;
        }
    }
    launch(o, index);
    return true;
}

void engine::launch(op& o, u32 index) noexcept {
    const u32 i = free_slot_;
    slot& s = slots_[i];
    free_slot_ = s.next_free;
    ++in_flight_;
    s.owner = &o;
    s.destination = index;
    s.sent = 0;
    s.resting = false;
    s.busy_replies = 0;
    s.alone = index == none || destinations_[index].in_flight == 0;
    if (index != none) ++destinations_[index].in_flight;
    if (is_measured(o)) {
        const round_trips::expectation expected = trips_.expect(o.destination, o.distance);
        s.deadline = expected.deadline;
        s.known = expected.known;
        s.silent = expected.silent;
    } else {
        s.known = false; // nor is it known to be there
    }
    if (control_ && in_flight_ == limit_) control_->full();
    o.where = op::place::in_slot;
    o.index = i;
    o.encode(o, s.mad());
    s.first_generation = s.generation + 1;
    begin_attempt(i);
}

// A new transaction ID for each attempt: kernels refuse a number that is still outstanding, and a late reply tells
// which attempt it answers.
void engine::begin_attempt(u32 i) noexcept {
    slot& s = slots_[i];
    ++s.generation;
    ++s.owner->attempts;
    set_low_tid(s.mad(), s.generation << slot_bits_ | i);
    s.refused = false;
    s.wait = wait_of(s);
    deadlines_.arm(i, s.wait); // even before it is written: some transport might never take it
    if (holding_ || blocked_head_ != none || !offer(i)) enqueue_blocked(i, false);
}

// A measured deadline, twice as long after every second attempt; the last one lasts until patience ends.
duration engine::wait_of(const slot& s) const noexcept {
    const op& o = *s.owner;
    if (!is_measured(o)) return o.timeout;
    // Those that were lost together do not come together again.
    const duration apart = o.attempts > 1 ? s.deadline / 32 * (o.index % 8) : duration{0};
    const duration longer =
        std::min((s.deadline + apart) * (1 << (o.attempts - 1) / 2), options_.patience.longest_deadline);
    if (o.attempts < round_trips::most_attempts(s.silent)) return longer;
    const duration passed = o.attempts > 1 ? now_ - s.first_started : duration{0};
    return std::max(longer, patience_with(o) - passed);
}

// Who is in a hurry still waits longer than the slowest take: how far away it is may be unknown.
duration engine::patience_with(const op& o) const noexcept {
    constexpr int slower_than_slowest = 3;
    const duration usual = trips_.expect(o.destination, o.distance).patience;
    if (o.patience.count() == 0) return usual;
    return std::max(std::min(o.patience, usual), slower_than_slowest * trips_.slowest());
}

bool engine::has_attempts_left(const slot& s) const noexcept {
    const op& o = *s.owner;
    if (!is_measured(o)) return o.attempts <= o.retries;
    if (o.attempts >= round_trips::most_attempts(s.silent)) return false;
    constexpr unsigned least_in_a_hurry = 3;
    const unsigned enough = o.patience.count() > 0 ? trips_.attempts(least_in_a_hurry) : trips_.attempts();
    return o.attempts < enough || now_ - s.first_started < patience_with(o);
}

// Gives the packet to the transport; false if it would block. A refusal ends the operation, but not in here.
bool engine::offer(u32 i) noexcept {
    slot& s = slots_[i];
    op& o = *s.owner;
    const int attempts_left = o.attempts <= o.retries ? o.retries + 1 - o.attempts : 0;
    const duration whole = is_measured(o) ? s.wait + 8 * s.deadline : o.timeout * (attempts_left + 1);
    const send_request request{o.path, s.mad(), mad_size, s.mad()[1], s.mad()[2], o.expects_reply, s.wait, whole};
    const send_result result = transport_.send(request);
    switch (result.state) {
    case send_state::would_block:
        if (!std::exchange(s.refused, true)) ++counters_.would_block;
        return false;
    case send_state::failed:
        ++(s.sent ? counters_.lost : counters_.send_failed);
        make_ready(o, op::place::ready_in_slot, verdict::send_failed, result.error);
        return true;
    case send_state::sent: break;
    }
    rate_.sent(now_);
    const bool first = s.sent++ == 0;
    if (trace_) [[unlikely]]
        tell(first ? trace_event::kind::send : trace_event::kind::retry, i);
    if (!o.expects_reply) {
        ++counters_.unanswered;
        make_ready(o, op::place::ready_in_slot, verdict::sent);
        return true;
    }
    ++(first ? counters_.sent : counters_.retried);
    if (deadlines_.started(i)) { // it was blocked for a while, but counts from here
        deadlines_.disarm(i);
        deadlines_.arm(i, s.wait);
    }
    return true;
}

void engine::resume_sends() noexcept {
    while (blocked_head_ != none) {
        const u32 i = blocked_head_;
        dequeue_blocked(i);
        if (!offer(i)) {
            enqueue_blocked(i, true);
            return;
        }
    }
}

void engine::enqueue_blocked(u32 i, bool in_front) noexcept {
    slot& s = slots_[i];
    s.blocked = true;
    s.previous_blocked = in_front ? none : blocked_tail_;
    s.next_blocked = in_front ? blocked_head_ : none;
    (s.previous_blocked == none ? blocked_head_ : slots_[s.previous_blocked].next_blocked) = i;
    (s.next_blocked == none ? blocked_tail_ : slots_[s.next_blocked].previous_blocked) = i;
}

void engine::dequeue_blocked(u32 i) noexcept {
    slot& s = slots_[i];
    s.blocked = false;
    (s.previous_blocked == none ? blocked_head_ : slots_[s.previous_blocked].next_blocked) = s.next_blocked;
    (s.next_blocked == none ? blocked_tail_ : slots_[s.next_blocked].previous_blocked) = s.previous_blocked;
}

// ---- receiving and expiring ------------------------------------------------------------------------------------

// Replies to any attempt of the pending operation count: a late answer is an answer.
engine::attempt engine::find_attempt(u32 tid) const noexcept {
    const u32 i = tid & ((u32{1} << slot_bits_) - 1);
    if (i >= window_ || !slots_[i].owner) return {none, 0};
    const slot& s = slots_[i];
    const u32 later = (s.generation - (tid >> slot_bits_)) & generations();
    if (later > ((s.generation - s.first_generation) & generations())) return {none, 0};
    return {i, later};
}

void engine::on_received(const received& r) noexcept {
    if (r.state == receive_state::failed) return on_transport_failed(r.error);
    if (r.state != receive_state::message) return;
    if (r.mad.size() < 24) {
        ++counters_.malformed;
        return;
    }
    if (r.status != 0) return on_report(r);
    const attempt found = find_attempt(low_tid(r.mad.data()));
    if (found.slot == none || !slots_[found.slot].sent || slots_[found.slot].owner->where != op::place::in_slot) {
        ++counters_.stale;
        if (is_response(r.mad)) revive(low_tid(r.mad.data()));
        if (trace_) [[unlikely]]
            tell(trace_event::kind::unexpected, none, &r);
        return;
    }
    slot& s = slots_[found.slot];
    op& o = *s.owner;
    if (const match m = match_reply(s.mad(), r.mad, o.takes_table); m != match::reply) {
        ++(m == match::wrong_size ? counters_.malformed : counters_.mismatched);
        if (trace_) [[unlikely]]
            tell(trace_event::kind::unexpected, none, &r);
        return;
    }
    if (r.is_part) { // the answer is on its way: it has all the time again
        deadlines_.disarm(found.slot);
        deadlines_.arm(found.slot, s.wait);
        return;
    }
    if (trace_) [[unlikely]]
        tell(trace_event::kind::reply, found.slot, &r);
    if ((status_of(r.mad.data()) & iba::status_busy) && s.busy_replies < o.busy_retries) return rest(found.slot);
    ++counters_.replied;
    if (found.later) ++counters_.late_replies;
    if (is_measured(o) || control_) was_answered(found.slot, found.later);
    finish(found.slot, {verdict::replied, 0, 0, r.mad, r.source});
}

// What the time of an answer teaches: about its sender, and about the window.
void engine::was_answered(u32 i, u32 later) noexcept {
    const slot& s = slots_[i];
    const op& o = *s.owner;
    const u32 before = (s.generation - later - s.first_generation) & generations();
    const u32 earlier = s.busy_replies ? 0 : before; // attempts that were lost
    std::optional<duration> took;
    if (later == 0 && deadlines_.started(i)) took = now_ - deadlines_.started_at(i);
    else if (later > 0 && before == 0 && s.busy_replies == 0) took = now_ - s.first_started;
    if (is_measured(o)) {
        if (took) trips_.answered(o.destination, o.distance, *took);
        trips_.count(earlier);
    }
    if (!control_) return;
    if (s.known)
        for (u32 n = 0; n < later; ++n) control_->not_lost();
    else
        for (u32 n = 0; n < earlier; ++n) control_->lost();
    const bool tells_crowding = took && s.alone && is_measured(o);
    control_->answered(tells_crowding ? trips_.inflation(o.distance, *took) : 0);
    limit_ = control_->window();
}

// Asks again after a pause: an eighth of the timeout, then twice as long each time, up to the whole.
void engine::rest(u32 i) noexcept {
    slot& s = slots_[i];
    if (s.blocked) dequeue_blocked(i); // an answer to an earlier attempt: the next has not left yet
    ++counters_.busy;
    const int halvings = std::max(0, 3 - s.busy_replies++);
    s.resting = true;
    const duration whole = is_measured(*s.owner) ? options_.patience.patience : s.owner->timeout;
    deadlines_.disarm(i);
    deadlines_.arm(i, whole / (1 << halvings));
    if (!control_) return;
    control_->busy();
    limit_ = control_->window();
}

void engine::tell(trace_event::kind what, u32 i, const received* r) noexcept {
    trace_event e{what, now_};
    if (i != none) {
        e.request = {slots_[i].mad(), mad_size};
        e.path = slots_[i].owner->path;
    }
    if (r) {
        e.mad = r->mad;
        e.source = &r->source;
    }
    trace_->on_event(e);
}

// The transport gives one of our sends back: it expired there (kernels and ibsim say ETIMEDOUT), or could not leave.
void engine::on_report(const received& r) noexcept {
    ++counters_.expired_reports;
    if (is_response(r.mad)) return; // a server's reply that nobody took: its transaction ID is another's
    const attempt found = find_attempt(low_tid(r.mad.data()));
    if (found.slot == none || found.later) return; // an attempt that no longer matters
    slot& s = slots_[found.slot];
    if (s.blocked || s.owner->where != op::place::in_slot) return;
    if (r.status == ETIMEDOUT) {
        deadlines_.disarm(found.slot);
        return attempt_expired(found.slot);
    }
    ++counters_.lost;
    finish(found.slot, {verdict::send_failed, 0, static_cast<int>(r.status), {}, {}});
}

void engine::set_now(time_point now) noexcept {
    now_ = now;
    deadlines_.set_now(now);
}

void engine::on_time() noexcept {
    for (u32 i; (i = deadlines_.expire(now_)) != deadlines::no_slot;) attempt_expired(i);
    refill(); // max_rate may have held some back
}

void engine::attempt_expired(u32 i) noexcept {
    slot& s = slots_[i];
    op& o = *s.owner;
    if (std::exchange(s.resting, false)) {
        --o.attempts; // what was answered has not failed
        return begin_attempt(i);
    }
    if (o.attempts == 1) s.first_started = deadlines_.started_at(i);
    if (control_ && s.known && s.sent) {
        control_->lost();
        limit_ = control_->window();
    }
    if (!has_attempts_left(s)) {
        if (trace_) [[unlikely]]
            tell(trace_event::kind::timed_out, i);
        if (s.sent) ++counters_.timed_out;
        else ++counters_.send_failed;
        if (s.sent && is_measured(o)) give_up(i);
        finish(i, {verdict::timed_out, 0, 0, {}, {}});
    } else if (s.blocked) {
        ++o.attempts;
        s.wait = wait_of(s);
        deadlines_.arm(i, s.wait);
    } else {
        begin_attempt(i);
    }
}

void engine::give_up(u32 i) noexcept {
    const slot& s = slots_[i];
    const op& o = *s.owner;
    trips_.given_up(o.destination);
    given_up_[i] = {o.destination, s.first_started, s.first_generation, s.generation, o.distance};
}

// An answer to what was given up already: later than it could be waited for, but whoever sent it lives.
void engine::revive(u32 tid) noexcept {
    const u32 i = tid & ((u32{1} << slot_bits_) - 1);
    if (i >= window_ || given_up_[i].destination == 0) return;
    const given_up& g = given_up_[i];
    const u32 later = (g.last_generation - (tid >> slot_bits_)) & generations();
    if (later > ((g.last_generation - g.first_generation) & generations())) return;
    ++counters_.revived;
    trips_.answered(g.destination, g.distance, now_ - g.first_started);
    given_up_[i].destination = 0;
}

void engine::on_transport_failed(int error) noexcept {
    for (slot& s : slots_) {
        if (!s.owner || s.owner->where != op::place::in_slot) continue;
        ++(s.sent ? counters_.lost : counters_.send_failed);
        make_ready(*s.owner, op::place::ready_in_slot, verdict::transport_failed, error);
    }
}

// ---- ending ----------------------------------------------------------------------------------------------------

void engine::finish(u32 i, completion&& how) noexcept {
    op& o = vacate(i);
    how.attempts = o.attempts;
    o.done(o, how);
}

// Frees the slot and puts it to use at once, so that the wire stays full while user code runs: first for an operation
// parked at the same destination, which is older than any that waits for a slot.
op& engine::vacate(u32 i) noexcept {
    slot& s = slots_[i];
    op& o = *s.owner;
    s.owner = nullptr;
    o.where = op::place::nowhere;
    o.attempts = s.sent; // those that stayed blocked do not count
    deadlines_.disarm(i);
    if (s.blocked) dequeue_blocked(i);
    s.next_free = std::exchange(free_slot_, i);
    --in_flight_;
    if (s.destination != none) {
        destination& d = destinations_[s.destination];
        --d.in_flight;
        if (!may_launch()) make_wait(d.parked); // the window has shrunk
        if (op* successor = d.parked.pop_front()) {
            --parked_;
            launch(*successor, s.destination);
        } else if (d.in_flight == 0) {
            drop_destination(s.destination);
        }
    }
    if (!waiting_.empty()) refill();
    return o;
}

// In front of all that wait: they are older. Their destination's bound is looked at again when they can be launched.
void engine::make_wait(op_queue& parked) noexcept {
    while (op* o = parked.pop_back()) {
        --parked_;
        o->where = op::place::waiting;
        waiting_.push_front(*o);
    }
}

void engine::refill() noexcept {
    while (may_launch()) {
        op* oldest = waiting_.pop_front();
        if (!oldest) return;
        try_launch(*oldest);
    }
}

void engine::make_ready(op& o, op::place where, verdict how, int error) noexcept {
    if (where == op::place::ready_in_slot) {
        deadlines_.disarm(o.index);
        if (slots_[o.index].blocked) dequeue_blocked(o.index);
    }
    o.where = where;
    o.ready_as = how;
    o.error = error;
    ready_.push_back(o);
    ++ready_count_;
}

void engine::run_ready() noexcept {
    // Those that become ready meanwhile wait for the next call, so that a driver always comes back to its transport.
    for (std::size_t due = ready_count_; due > 0 && !ready_.empty(); --due) {
        op& o = *ready_.pop_front();
        --ready_count_;
        if (o.where == op::place::ready_in_slot) vacate(o.index);
        o.where = op::place::nowhere;
        o.done(o, {o.ready_as, o.attempts, o.error, {}, {}});
    }
}

void engine::cancel(op& o) noexcept {
    if (o.where == op::place::nowhere || o.where == op::place::ready || o.where == op::place::ready_in_slot) return;
    withdraw(o);
    make_ready(o, op::place::ready, verdict::cancelled);
}

void engine::withdraw(op& o) noexcept {
    switch (o.where) {
    case op::place::nowhere: break;
    case op::place::waiting: waiting_.remove(o); break;
    case op::place::parked:
        destinations_[o.index].parked.remove(o);
        --parked_;
        break;
    case op::place::ready_in_slot: vacate(o.index); [[fallthrough]];
    case op::place::ready:
        ready_.remove(o);
        --ready_count_;
        break;
    case op::place::in_slot:
        if (slots_[o.index].sent) ++counters_.cancelled;
        vacate(o.index);
        break;
    }
    o.where = op::place::nowhere;
}

// ---- destinations ----------------------------------------------------------------------------------------------

u32 engine::find_destination(u64 key) const noexcept {
    u32 i = buckets_[bucket_of(key)];
    while (i != none && destinations_[i].key != key) i = destinations_[i].next;
    return i;
}

// There are never more than slots: an entry lives while something is in flight to it.
u32 engine::make_destination(u64 key) noexcept {
    const u32 i = free_destination_;
    destination& d = destinations_[i];
    free_destination_ = d.next;
    d.key = key;
    d.in_flight = 0;
    d.next = std::exchange(buckets_[bucket_of(key)], i);
    return i;
}

void engine::drop_destination(u32 index) noexcept {
    destination& d = destinations_[index];
    u32* link = &buckets_[bucket_of(d.key)];
    while (*link != index) link = &destinations_[*link].next;
    *link = d.next;
    d.next = std::exchange(free_destination_, index);
}

} // namespace comad::mad
