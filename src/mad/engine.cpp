// SPDX-License-Identifier: MIT
// engine.cpp - operations, their attempts, and what becomes of them. The rule everywhere: first bring the engine in order,
// then call `done`; and nothing is sent from inside cancel() and withdraw().
#include <comad/iba/mad_header.hpp>
#include <comad/mad/engine.hpp>

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

// Several times the window: what was lost is remembered, and operations on the silent wait without a place in the window.
u32 places_for(unsigned window) { return std::clamp(std::bit_ceil(8 * window), 1024u, 1u << 17); }

// While everything is late the wire may stand still, but not for so long; and once it did not, it is more likely that many in a
// row are dead.
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
      limit_(window_), attempts_(places_for(window_), options.seed), deadlines_(attempts_.size()),
      destinations_(attempts_.size()), max_parked_(std::max<std::size_t>(256, std::size_t{8} * window_)),
      trips_(options.patience, t.limits().grain), rate_(options.max_rate), stall_(longest_stall) {
    if (options.max_outstanding == 0) limit_ = control_.emplace(window_, options.polite).window();
}

engine::~engine() { assert(idle() && "an operation outlives its engine"); }

void engine::set_now(time_point now) noexcept {
    now_ = now;
    deadlines_.set_now(now);
}

// ---- who may go ------------------------------------------------------------------------------------------------------

void engine::submit(op& o) noexcept {
    assert(o.where == op::place::nowhere);
    assert((o.timeout.count() > 0 || o.destination != 0) && "an operation without a timeout needs a destination");
    o.attempts = o.sent = 0;
    if (may_launch() && !has_waiting()) return try_launch(o);
    o.where = op::place::waiting;
    waiting_.push_back(o);
}

// What is under way goes before what waits for its destination, and that before what waits for any place: it is older.
void engine::launch_more() noexcept {
    while (may_launch()) {
        if (op* o = repeating_.pop_front()) {
            o->where = op::place::in_flight;
            end_pause(*o);
            begin_attempt(*o);
        } else if (!late_.empty() && timely_ == 0 && probe()) {
            continue;
        } else if (op* freed = destinations_.next_free([this](const op& f) { return bound_of(f); })) {
            launch(*freed, freed->destination_index);
        } else if (op* oldest = waiting_.pop_front()) {
            try_launch(*oldest);
        } else {
            return;
        }
    }
}

// If its destination is at its bound, it is parked there.
void engine::try_launch(op& o) noexcept {
    const unsigned bound = bound_of(o);
    if (bound == 0) return launch(o, none);
    const u32 index = destinations_.find_or_make(o.destination);
    if (destinations_.claims(index) < bound) return launch(o, index);
    o.where = op::place::parked;
    destinations_.park(o, index);
}

void engine::launch(op& o, u32 destination) noexcept {
    o.where = op::place::in_flight;
    o.destination_index = destination;
    if (destination != none) destinations_.claim(destination);
    o.latest = none;
    o.busy_replies = 0;
    o.has_begun = o.wants_attempt = o.is_known = o.is_silent = false;
    if (is_measured(o)) {
        const rtt_estimator::expectation expected = trips_.expect(o.destination, o.distance);
        o.deadline = expected.deadline;
        o.is_known = expected.known;
        o.is_silent = expected.silent;
    }
    ++under_way_;
    begin_attempt(o);
    if (control_ && in_flight_ >= limit_) control_->full();
}

// Everything is late. Who has waited longest asks again.
bool engine::probe() noexcept {
    for (u32 i = late_.front; i != none; i = attempts_[i].next) {
        op* const o = attempts_[i].owner;
        if (!o || !o->wants_attempt) continue;
        begin_attempt(*o);
        return true;
    }
    return false;
}

// ---- attempts ----------------------------------------------------------------------------------------------------------

// A new transaction ID for each: kernels refuse a number that is still outstanding, and a late reply tells which attempt
// it answers.
void engine::begin_attempt(op& o) noexcept {
    const u32 i = attempts_.take([this](u32 forgotten) {
        if (op* const owner = attempts_[forgotten].owner) unlink_earlier(*owner, forgotten);
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
    a.is = {.known = o.is_known,
            .alone = o.destination_index != none && destinations_.claims(o.destination_index) == 1};
    a.sequence = ++sequence_;
    a.what_became = state::blocked;
    ++in_flight_;
    if (++timely_ == 1 && !late_.empty()) {
        probing_ = true;
        ++counters_.probes;
    }
    a.crowd = static_cast<u16>(std::min(in_flight_, 65535u));
    if (a.crowd > detail::window_control::few) crowded_ = a.sequence;
    a.wait = wait_of(o);
    a.told = told_timeout(o);
    deadlines_.arm(i, a.wait); // even before it is written: some transport might never take it
    if (holding_ || !blocked_.empty() || !offer(i)) attempts_.push_back(blocked_, i);
}

// Its latest attempt is to be an earlier one.
void engine::supersede(op& o) noexcept {
    const u32 i = o.latest;
    attempt& a = attempts_[i];
    deadlines_.disarm(i);
    if (a.what_became == state::returned || a.what_became == state::rested) {
        o.latest = a.earlier;
        attempts_.release(i);
    } else if (a.what_became == state::lost && o.counts_attempts) {
        claim(a, o.destination_index);
        a.is.strict = true;
        deadlines_.arm(i, left_of_told(a));
    } else if (a.what_became == state::lost) {
        attempts_.remember(i);
    }
}

// Those that were lost together do not come together again.
duration engine::wait_of(const op& o) const noexcept {
    if (!is_measured(o)) return timeout_of(o, o.attempts);
    const duration apart = o.attempts > 1 ? o.deadline / 32 * (o.latest % 8) : duration{0};
    return std::min((o.deadline + apart) * repetition_.backoff(o.attempts), options_.patience.longest_deadline);
}

duration engine::timeout_of(const op& o, unsigned attempts) noexcept {
    constexpr unsigned per_octave = 2, most_octaves = 16;
    if (o.longest_timeout <= o.timeout) return o.timeout;
    const unsigned octaves = attempts > 0 ? std::min((attempts - 1) / per_octave, most_octaves) : 0;
    return std::min(times(o.timeout, 1u << octaves), o.longest_timeout);
}

// How long a reply is of any use: until the last attempt is over. A slow node's reply is accepted until then.
duration engine::told_timeout(const op& o) const noexcept {
    if (is_measured(o)) return options_.patience.first_patience;
    const unsigned last = o.retries + 1u;
    if (o.longest_timeout <= o.timeout) return times(o.timeout, o.attempts < last ? last + 1 - o.attempts : 1);
    duration told{0};
    for (unsigned n = o.attempts; n <= std::max<unsigned>(o.attempts, last); ++n)
        told += std::min(timeout_of(o, n), duration::max() - told);
    return told;
}

duration engine::left_of_told(const attempt& a) const noexcept {
    return a.is.timed ? std::max(a.told - (now_ - a.sent), duration{0}) : a.told;
}

void engine::encode(op& o, u32 i) noexcept {
    u8* const mad = packet_.data() + headroom;
    o.encode(o, mad);
    set_low_tid(mad, attempts_.tid(i));
}

// Gives its packet to the transport; false if it would block. A refusal ends the operation, but not in here.
bool engine::offer(u32 i) noexcept {
    attempt& a = attempts_[i];
    op& o = *a.owner;
    encode(o, i);
    u8* const mad = packet_.data() + headroom;
    const bool is_guess = is_measured(o) && !o.is_known && !repetition_.is_lossy();
    const send_request request{o.path, mad,    mad_size,  mad[1],   mad[2],    o.expects_reply,
                               a.wait, a.told, any_agent, is_guess, in_flight_};
    const send_result result = transport_.send(request);
    if (result.state == send_state::would_block) {
        if (!std::exchange(a.is.refused, true)) ++counters_.would_block;
        return false;
    }
    if (result.state == send_state::failed) {
        ++(o.sent ? counters_.lost : counters_.send_failed);
        leave_flight(a);
        a.what_became = state::returned;
        make_ready(o, op::place::ready_in_flight, completion_status::send_failed, result.error);
        return true;
    }
    rate_.sent(now_);
    const bool first = o.sent++ == 0;
    if (trace_) [[unlikely]]
        tell(first ? trace_event::kind::send : trace_event::kind::retry, i);
    if (!o.expects_reply) {
        ++counters_.unanswered;
        leave_flight(a);
        a.what_became = state::returned;
        make_ready(o, op::place::ready_in_flight, completion_status::sent);
        return true;
    }
    ++(first ? counters_.sent : counters_.retried);
    a.reply = pattern_of_reply(mad, *o.path);
    a.what_became = state::flying;
    a.is.timed = clock_ != nullptr;
    if (clock_) a.sent = clock_();
    if (deadlines_.started(i)) { // it was blocked for a while, but counts from here
        deadlines_.disarm(i);
        deadlines_.arm(i, a.wait);
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

std::optional<duration> engine::took(u32 i) const noexcept {
    const attempt& a = attempts_[i];
    if (a.is.timed) return std::max(now_ - a.sent, duration{0});
    if (a.what_became == state::flying && deadlines_.started(i)) return now_ - deadlines_.started_at(i);
    return std::nullopt;
}

// Before its deadline is armed anew.
void engine::keep_time(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (a.is.timed || !deadlines_.started(i)) return;
    a.sent = deadlines_.started_at(i);
    a.is.timed = true;
}

// ---- what comes too late -----------------------------------------------------------------------------------------------

void engine::on_time() noexcept {
    for (u32 i; (i = deadlines_.expire(now_)) != detail::deadlines::no_slot;) due(i);
    while (!late_.empty() && attempts_[late_.front].sequence < answered_) lose(late_.front);
    launch_more(); // max_rate may have held some back
}

// The time is over that its deadline was armed for: its own, or what its operation waits for behind it.
void engine::due(u32 i) noexcept {
    attempt& a = attempts_[i];
    keep_time(i);
    if (a.what_became == state::flying) return overdue(i);
    if (!a.owner) return forget(i);
    op& o = *a.owner;
    if (o.latest != i) { // of no use any more
        unlink_earlier(o, i);
        a.owner = nullptr;
        return forget(i);
    }
    note_begin(o, a);
    if (a.what_became == state::resting) {
        a.what_became = state::rested;
        --o.attempts; // what was answered has not failed
        o.begun = now_;
        o.has_begun = true;
    }
    if (o.where == op::place::repeating) { // there was no place for it all the time
        end_pause(o);
        if (is_measured(o) && has_attempts_left(o)) { // it keeps its place in the queue
            o.repeating_since = now_;
            return deadlines_.arm(i, longest_stall);
        }
        repeating_.remove(o);
        o.where = op::place::in_flight;
        if (!is_measured(o)) ++o.attempts;
    }
    go_on(o);
}

void engine::overdue(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (--timely_ == 0) probing_ = false;
    a.what_became = state::late;
    attempts_.insert_in_order(late_, i);
    op* const o = a.owner;
    if (a.destination == 0) lose(i); // who gives a timeout says when a MAD is lost
    else if (!o) deadlines_.arm(i, std::min(left_of_told(a), stall_of(a)));
    if (!o || o->latest != i) return;
    note_begin(*o, a);
    go_on(*o);
}

void engine::note_begin(op& o, const attempt& first) noexcept {
    if (o.has_begun || o.attempts != 1) return;
    o.begun = first.sent;
    o.has_begun = true;
}

// Late, and something later was answered: lost, as far as anyone can tell.
void engine::lose(u32 i) noexcept {
    attempt& a = attempts_[i];
    attempts_.unlink(late_, i);
    --in_flight_;
    a.what_became = state::lost;
    count_lost(a);
    op* const o = a.owner;
    if (o && o->latest == i) {
        if (o->wants_attempt) repeat(*o);
    } else if (a.is.strict) {
        if (!deadlines_.armed(i)) deadlines_.arm(i, left_of_told(a));
    } else {
        deadlines_.disarm(i);
        release_claim(a);
        attempts_.remember(i);
    }
}

void engine::count_lost(attempt& a) noexcept {
    if (!control_ || !a.is.known || std::exchange(a.is.counted_lost, true)) return;
    control_->lost(crowd_of(a));
    limit_ = control_->window();
}

void engine::repeat(op& o) noexcept {
    o.wants_attempt = false;
    o.where = op::place::repeating;
    o.repeating_since = now_;
    repeating_.push_back(o);
}

// The time limit does not count the time in which it waited for a place.
void engine::end_pause(op& o) const noexcept {
    if (o.has_begun) o.begun += now_ - o.repeating_since;
}

// Nothing came in the time of its latest attempt, or of its patience: another one, or none any more.
void engine::go_on(op& o) noexcept {
    attempt& a = attempts_[o.latest];
    if (is_measured(o)) {
        duration left = patience_with(o) - (o.has_begun ? now_ - o.begun : duration{0});
        if (left.count() <= 0) {
            if (!o.is_known || a.what_became == state::blocked || !has_attempts_left(o)) return give_up(o);
            left =
                longest_stall; // it has the attempts that it was promised, even if few replies arrive to show what was lost
        }
        // Meanwhile it may turn out that more is lost than was known, and that it has more attempts.
        duration again = o.has_begun ? std::max(now_ - o.begun, o.deadline) : left;
        if (a.what_became == state::late) {
            const duration late_for = now_ - a.sent - a.wait;
            if (late_for < stall_of(a)) again = std::min(again, stall_of(a) - late_for);
            else end_stall(o);
        }
        deadlines_.arm(o.latest, std::min(left, again));
    } else {
        if (o.attempts > o.retries) return give_up(o);
        deadlines_.arm(o.latest, a.what_became == state::blocked ? a.wait : wait_of(o));
    }
    if (a.what_became == state::blocked) {
        if (!is_measured(o)) ++o.attempts;
        return;
    }
    if (!has_attempts_left(o)) return;
    if (a.what_became == state::late) {
        o.wants_attempt = true;
        return;
    }
    if (a.what_became == state::returned) count_lost(a);
    const bool is_bounded = o.counts_attempts && o.destination_index != none;
    const bool has_claim_left = !is_bounded || destinations_.claims(o.destination_index) < bound_of(o);
    if (has_claim_left) repeat(o);
    else ++o.attempts; // all that its destination takes is there already, this one's earlier attempts among it
}

void engine::give_up(op& o) noexcept {
    if (trace_) [[unlikely]]
        tell(trace_event::kind::timed_out, o.latest);
    ++(o.sent ? counters_.timed_out : counters_.send_failed);
    if (o.sent && is_measured(o)) {
        trips_.given_up(o.destination);
        lose_all(o);
    }
    end(o, {completion_status::timed_out, 0, 0, {}, {}}, none);
}

duration engine::stall_of(const attempt& a) const noexcept { return a.is.known ? longest_stall : stall_; }

void engine::end_stall(op& o) noexcept {
    if (attempts_[o.latest].sequence > stalled_) {
        stalled_ = sequence_;
        stall_ = std::max(stall_ / 2, shortest_stall);
    }
    lose_all(o);
}

// What is late for so long is lost, whether anything else was answered or not.
void engine::lose_all(op& o) noexcept {
    o.wants_attempt = false;
    for (u32 i = o.latest; i != none; i = attempts_[i].earlier)
        if (attempts_[i].what_became == state::late) lose(i);
}

// Who is in a hurry still makes all attempts that it has, and waits longer than the slowest take: how far away it is may be
// unknown.
duration engine::patience_with(const op& o) const noexcept {
    constexpr int slower_than_slowest = 3;
    const duration usual = trips_.expect(o.destination, o.distance).patience;
    if (o.patience.count() == 0 || has_attempts_left(o)) return usual;
    return std::min(std::max(o.patience, slower_than_slowest * trips_.slowest()), usual);
}

bool engine::has_attempts_left(const op& o) const noexcept {
    if (!is_measured(o)) return o.attempts <= o.retries;
    return o.attempts < repetition_.attempts(o.is_known && !o.is_silent, o.patience.count() > 0);
}

// Nobody waits for it, and the transport has forgotten it.
void engine::forget(u32 i) noexcept {
    attempt& a = attempts_[i];
    if (a.what_became == state::late) {
        attempts_.unlink(late_, i);
        --in_flight_;
        a.what_became = state::lost;
    }
    release_claim(a);
    if (a.what_became == state::lost) attempts_.remember(i);
    else attempts_.release(i);
}

// ---- answers -------------------------------------------------------------------------------------------------------------

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
    op* const o = a.owner;
    // Of an operation that ended it is not known what it took, nor all of its route.
    const match m = match_reply(a.reply, r.mad, r.source.SLID, !o || o->takes_table);
    if (m == match::wrong_size) return on_unexpected(r, counters_.malformed);
    if (m != match::reply || (o && !came_all_the_way(*o, r.mad))) return on_unexpected(r, counters_.mismatched);
    if (!o) {
        learn(i);
        drop(i);
        on_unexpected(r, counters_.stale);
        return launch_more();
    }
    if (r.is_part) return fly_again(i, a.wait); // the answer is on its way: it has all the time again
    if (trace_) [[unlikely]]
        tell(trace_event::kind::reply, i, &r);
    if ((status_of(r.mad.data()) & iba::status_busy) && o->busy_replies < o->busy_retries) {
        rest(i);
        return launch_more();
    }
    ++counters_.replied;
    if (o->latest != i) ++counters_.late_replies;
    learn(i);
    end(*o, {completion_status::replied, 0, 0, r.mad, r.source}, i);
}

// The pattern has the first seven hops.
bool engine::came_all_the_way(const op& o, std::span<const u8> reply) noexcept {
    const auto* route = reply[iba::offset_of<&iba::MADHeaderDirected::hopCount>] > 7 ? directed(*o.path) : nullptr;
    return !route || came_by(*route, reply);
}

bool engine::may_be_answered(const attempt& a) noexcept {
    const state s = a.what_became;
    const bool is_open = s != state::blocked && s != state::resting && s != state::rested;
    return is_open && (!a.owner || is_under_way(*a.owner));
}

void engine::on_unexpected(const received& r, u64& counter) noexcept {
    ++counter;
    if (trace_) [[unlikely]]
        tell(trace_event::kind::unexpected, none, &r);
}

// What an answer teaches: about its sender, about what was lost before it, about what is behind it, and about the window.
void engine::learn(u32 i) noexcept {
    attempt& a = attempts_[i];
    answered_ = std::max(answered_, a.sequence);
    probing_ = false;
    stall_ = longest_stall;
    const bool is_set = a.owner && a.owner->longest_timeout.count() > 0;
    if (a.destination == 0 && !control_ && !is_set) return;
    const std::optional<duration> time = took(i);
    if (is_set && time) trips_.acted(a.owner->destination, *time);
    if (a.what_became == state::lost) {
        ++counters_.spurious;
        if (a.is.known) trips_.was_hasty();
        if (a.is.counted_lost) control_->not_lost(crowd_of(a));
    }
    if (a.destination == 0) {
        if (control_) control_->answered(crowd_of(a));
    } else {
        if (!a.owner && trips_.is_silent(a.destination)) ++counters_.revived;
        const bool has_stalled = a.what_became == state::late && late_.front != late_.back;
        if (has_stalled && time) trips_.stalled(*time - a.wait);
        count_losses_before(a);
        if (time) measure(a, *time);
        if (control_) control_->answered(crowd_of(a));
        const bool came_late = a.what_became == state::late || a.what_became == state::lost;
        if (came_late && time && a.owner) expect_behind(*a.owner, i, *time);
    }
    if (control_) limit_ = control_->window();
}

void engine::measure(const attempt& a, duration time) noexcept {
    const bool is_uncrowded = crowd_of(a) <= detail::window_control::few;
    const duration baseline = trips_.answered(a.destination, a.distance, time, is_uncrowded);
    if (control_ && a.is.alone) control_->measured(time, baseline, a.crowd);
}

// What came after it may be in its way as well.
unsigned engine::crowd_of(const attempt& a) const noexcept {
    return crowded_ > a.sequence ? std::max<unsigned>(a.crowd, detail::window_control::few + 1) : a.crowd;
}

void engine::count_losses_before(const attempt& answered) noexcept {
    for (u32 i = answered.owner ? answered.earlier : none; i != none; i = attempts_[i].earlier) {
        attempt& a = attempts_[i];
        // Late is lost now: something that was sent after it was answered. It need not be in a list of the lost yet.
        if (a.what_became != state::lost && a.what_became != state::returned && a.what_became != state::late) continue;
        repetition_.count_lost();
        if (control_ && !std::exchange(a.is.counted_lost, true))
            control_->lost(crowd_of(a)); // it is there, as is known now
    }
    repetition_.count_answered();
}

// Who takes longer than was expected got its later attempts, too, and answers one after the other.
void engine::expect_behind(op& o, u32 answered, duration time) noexcept {
    int behind = 0;
    for (u32 i = o.latest; i != answered; i = attempts_[i].earlier) ++behind;
    for (u32 i = o.latest; i != answered; i = attempts_[i].earlier, --behind) {
        const state s = attempts_[i].what_became;
        if (s == state::blocked || s == state::resting || s == state::rested) continue;
        fly_again(i, time * behind + time / 4);
        attempts_[i].is.behind = true;
    }
}

// It is in time again, and has so much of it.
void engine::fly_again(u32 i, duration wait) noexcept {
    attempt& a = attempts_[i];
    keep_time(i);
    take_out(i);
    if (control_ && std::exchange(a.is.counted_lost, false)) control_->not_lost(crowd_of(a));
    a.what_became = state::flying;
    ++in_flight_;
    ++timely_;
    deadlines_.disarm(i);
    deadlines_.arm(i, wait);
}

// Asks again after a pause: an eighth of the timeout, then twice as long each time, up to the whole. Where a later attempt is
// under way, its answer decides.
void engine::rest(u32 i) noexcept {
    attempt& a = attempts_[i];
    op& o = *a.owner;
    ++counters_.busy;
    if (o.latest != i) {
        unlink_earlier(o, i);
        return drop(i);
    }
    take_out(i);
    a.what_became = state::resting;
    const int halvings = std::max(0, 3 - o.busy_replies++);
    const duration whole = is_measured(o) ? options_.patience.patience : o.timeout;
    deadlines_.disarm(i);
    deadlines_.arm(i, whole / (1 << halvings));
    if (!control_) return;
    control_->busy();
    limit_ = control_->window();
}

// The transport gives one of our sends back: it expired there (kernels and ibsim say ETIMEDOUT), or could not leave. What is
// not late yet is asked again when it is: who has no patience, or no memory, must not make us hurry.
void engine::on_report(const received& r) noexcept {
    ++counters_.expired_reports;
    if (is_response(r.mad)) return; // a server's reply that nobody took: its transaction ID is another's
    const u32 i = attempts_.find(low_tid(r.mad.data()));
    if (i == none || !may_be_answered(attempts_[i]) || attempts_[i].what_became == state::returned) return;
    attempt& a = attempts_[i];
    op* const o = a.owner;
    const bool was_late = a.what_became != state::flying;
    if (!o && a.is.behind) {
        take_out(i);
        a.what_became = state::returned; // whoever is asked is still busy with it
    } else if (!o) {
        drop(i);
    } else if (o->latest != i) {
        unlink_earlier(*o, i);
        drop(i);
    } else if (r.status != ETIMEDOUT) {
        ++counters_.lost;
        return end(*o, {completion_status::send_failed, 0, static_cast<int>(r.status), {}, {}}, i);
    } else {
        const bool wants = o->wants_attempt || o->where == op::place::repeating;
        take_out(i);
        a.what_became = state::returned;
        if (was_late) count_lost(a);
        if (wants) repeat(*o);
    }
    launch_more();
}

void engine::on_transport_failed(int error) noexcept {
    for (u32 i = 0; i < attempts_.size(); ++i) {
        attempt& a = attempts_[i];
        if (a.what_became == state::unused) continue;
        if (!a.owner) {
            drop(i);
            continue;
        }
        op& o = *a.owner;
        take_out(i);
        a.what_became = state::returned;
        if (!is_under_way(o)) continue;
        ++(o.sent ? counters_.lost : counters_.send_failed);
        make_ready(o, op::place::ready_in_flight, completion_status::transport_failed, error);
    }
}

void engine::tell(trace_event::kind what, u32 i, const received* r) noexcept {
    trace_event e{what, now_};
    if (i != none) {
        op& o = *attempts_[i].owner;
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

// ---- ends ----------------------------------------------------------------------------------------------------------------

// Its place is put to use at once, so that the wire stays full while user code runs.
void engine::end(op& o, completion&& how, u32 answered) noexcept {
    detach(o, answered);
    o.where = op::place::nowhere;
    how.attempts = o.sent;
    if (has_waiting()) launch_more();
    o.done(o, how);
}

// It has no more to do with its attempts, which go on alone: they may still be answered.
void engine::detach(op& o, u32 answered) noexcept {
    if (o.where == op::place::repeating) repeating_.remove(o);
    --under_way_;
    if (o.latest == answered && o.attempts == 1 && attempts_[answered].what_became == state::flying) {
        // Nearly all: its only attempt was answered in time.
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

void engine::orphan(const op& o, u32 i) noexcept {
    attempt& a = attempts_[i];
    a.owner = nullptr;
    const bool counts = a.what_became == state::flying || a.what_became == state::late;
    const bool is_lost = a.what_became == state::lost;
    if (!counts && !is_lost) return drop(i);
    if (a.is.remembered || a.is.strict) return;
    if (counts || o.counts_attempts) {
        claim(a, o.destination_index);
        a.is.strict = o.counts_attempts;
        if (a.what_became == state::flying) return; // its deadline is its own
        deadlines_.disarm(i);
        deadlines_.arm(i, left_of_told(a));
    } else {
        deadlines_.disarm(i);
        attempts_.remember(i);
    }
}

void engine::unlink_earlier(op& o, u32 i) noexcept {
    u32* link = &o.latest;
    while (*link != i) link = &attempts_[*link].earlier;
    *link = attempts_[i].earlier;
}

// Out of the flight and whatever list or queue it is in.
void engine::take_out(u32 i) noexcept {
    attempt& a = attempts_[i];
    switch (a.what_became) {
    case state::late: attempts_.unlink(late_, i); [[fallthrough]];
    case state::flying: leave_flight(a); break;
    case state::blocked:
        attempts_.unlink(blocked_, i);
        leave_flight(a);
        break;
    default: break;
    }
    if (a.is.remembered) attempts_.recall(i);
    op* const o = a.owner;
    if (!o || o->latest != i) return;
    o->wants_attempt = false;
    if (o->where == op::place::repeating) {
        end_pause(*o);
        repeating_.remove(*o);
        o->where = op::place::in_flight;
    }
}

// Nothing more is expected of it.
void engine::drop(u32 i) noexcept {
    take_out(i);
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

void engine::make_ready(op& o, op::place where, completion_status how, int error) noexcept {
    if (where == op::place::ready_in_flight) {
        if (o.where == op::place::repeating) repeating_.remove(o);
        o.wants_attempt = false;
        deadlines_.disarm(o.latest);
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
        if (o.where == op::place::ready_in_flight) detach(o, none);
        o.where = op::place::nowhere;
        launch_more();
        o.done(o, {o.ready_as, o.sent, o.error, {}, {}});
    }
}

void engine::cancel(op& o) noexcept {
    if (o.where == op::place::nowhere || o.where == op::place::ready || o.where == op::place::ready_in_flight) return;
    withdraw(o);
    make_ready(o, op::place::ready, completion_status::cancelled);
}

void engine::withdraw(op& o) noexcept {
    switch (o.where) {
    case op::place::nowhere: break;
    case op::place::waiting: waiting_.remove(o); break;
    case op::place::parked: destinations_.withdraw(o); break;
    case op::place::ready_in_flight: detach(o, none); [[fallthrough]];
    case op::place::ready:
        ready_.remove(o);
        --ready_count_;
        break;
    case op::place::in_flight:
    case op::place::repeating:
        if (o.sent) ++counters_.cancelled;
        detach(o, none);
        break;
    }
    o.where = op::place::nowhere;
}

} // namespace comad::mad
