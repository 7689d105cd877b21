// SPDX-License-Identifier: MIT
// schedule.cpp - the parts of a schedule that drivers call, and the sources from which it pulls tasks.
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/mad/detail/engine.hpp>
#include <comad/mad/detail/peer_cache.hpp>

#include <algorithm>

namespace comad::coro {

MADSchedule::MADSchedule(mad::transport& t, schedule_options options)
    : transport_(t), options_(options),
      engine_(std::make_unique<mad::engine>(t, mad::engine_options{.max_outstanding = options.max_outstanding,
                                                                   .per_destination = options.per_destination,
                                                                   .seed = options.seed,
                                                                   .max_rate = options.max_rate,
                                                                   .polite = options.polite,
                                                                   .patience = options.patience})),
      peer_cache_(std::make_unique<mad::detail::peer_cache>()) {
    if (options_.sa_outstanding == 0)
        options_.sa_outstanding = static_cast<u16>(std::clamp(t.limits().sa_window, 1u, 65535u));
    detail::remember(*this);
}

MADSchedule::~MADSchedule() { detail::forget(*this); }

bool MADSchedule::is_sa(const mad::source_address& source) const noexcept {
    const auto is_at = [&](const mad::IBPath& path) {
        return source.SLID != iba::lid{} && source.SLID == path.DLID && source.sqpn == path.dqpn;
    };
    if (is_at(sa_path_)) return true;
    mad::IBPath now = sa_path_;
    peer_cache_->apply(now, iba::MgmtClass::SubnAdm);
    return is_at(now);
}

void MADSchedule::set_trace(mad::trace_sink* sink) noexcept { engine_->set_trace(sink); }
const mad::engine_counters& MADSchedule::counters() const noexcept { return engine_->counters(); }
unsigned MADSchedule::in_flight() const noexcept { return engine_->in_flight(); }
unsigned MADSchedule::window() const noexcept { return engine_->window(); }
mad::time_point MADSchedule::now() const noexcept { return engine_->now(); }
bool MADSchedule::idle() const noexcept { return engine_->idle() && pauses_.none() && !server_; }

void MADSchedule::use_clock(mad::clock_reading clock) noexcept {
    clock_ = clock;
    engine_->use_clock(clock);
}

void MADSchedule::set_now(mad::time_point now) noexcept {
    engine_->set_now(now);
    transport_.set_now(now);
    pauses_.set_now(now);
}

void MADSchedule::on_time() noexcept {
    engine_->on_time();
    pauses_.end_due(now());
}

mad::time_point MADSchedule::next_deadline() const noexcept {
    // Something ended after the last turn, for example because a task of another schedule ended it.
    if (engine_->has_ready() || pauses_.has_ready() || source_cancelled_) return now();
    const mad::time_point ours = std::min(engine_->next_deadline(), pauses_.next_end());
    if (transport_failed_) return ours; // no code calls the transport any more
    return std::min(ours, transport_.next_event().value_or(mad::time_point::max()));
}

// Processes what has arrived. A reply that arrived in time must not expire because it was read late. Before anything expires, this
// function therefore reads everything that can have arrived: a reply and a late reply for each MAD in flight. In other cases, with one
// MAD in flight, its reply is the only expected message, and another read would be a useless system call. With no MAD in flight, only
// requests to a server can arrive.
bool MADSchedule::turn() noexcept {
    const bool is_due = engine_->may_be_due();
    if (!is_due) to_read_ = 2 * engine_->in_flight();
    const unsigned expected = engine_->in_flight() ? std::min(engine_->in_flight(), burst) : burst;
    bool more = !transport_failed_ && receive(expected) && (expected > 1 || is_due);
    to_read_ -= std::min(to_read_, expected);
    if (!more || to_read_ == 0) on_time();
    more = settle() || more;
    return more;
}

bool MADSchedule::receive(unsigned max) noexcept {
    for (;;) {
        // Read at most a quarter of the MADs in flight, so that the link stays busy while tasks run.
        const unsigned wanted = std::min(max, std::clamp(engine_->in_flight() / 4, 1u, batch));
        const unsigned handled = receive_batch(wanted);
        if (handled < wanted || transport_failed_) return false;
        max -= handled;
        if (max == 0) return true;
        if (clock_) set_now(clock_()); // the time for this batch must not count in the round-trip times of the next one
    }
}

// Does all reads first, then all processing, then all writes. Each of the three phases finds its code and data in the
// caches, and the peer processes one batch while this side processes the next. Without batches it takes 20 % longer
// (bench/).
unsigned MADSchedule::receive_batch(unsigned wanted) noexcept {
    unsigned count = 0;
    while (count < wanted && !transport_failed_) {
        incoming& next = inbox_[count];
        next.message = transport_.receive(next.bytes);
        if (next.message.state == mad::receive_state::would_block) break;
        ++count;
        const bool is_long = next.message.full_size > next.message.mad.size() && receive_long(next);
        if (next.message.state == mad::receive_state::failed) transport_failed_ = true;
        if (is_long) break;
    }
    if (count == 0) return 0;
    if (count > 1) engine_->hold_sends();
    for (unsigned i = 0; i < count; ++i) {
        handle(inbox_[i].message);
        if (newest_) pull();
    }
    engine_->release_sends();
    return count;
}

void MADSchedule::handle(const mad::received& message) noexcept {
    const bool is_request = server_ && message.state == mad::receive_state::message && message.status == 0 &&
                            message.mad.size() >= iba::wire_size<iba::MADHeader> && !mad::is_response(message.mad);
    if (is_request) server_->on_request(message, now());
    else engine_->on_received(message);
}

// Reads a message that the transport keeps until it is read whole. There is only one buffer for such messages, so the
// batch ends with it.
bool MADSchedule::receive_long(incoming& cut) {
    if (!transport_.limits().kernel_rmpp) return false;
    long_message_.resize(mad::headroom + cut.message.full_size);
    cut.message = transport_.receive(long_message_); // would_block: the next read starts again
    return true;
}

bool MADSchedule::settle() noexcept {
    engine_->run_ready();
    pauses_.end_ready();
    engine_->resume_sends();
    if (server_) server_->resume_sends();
    pull();
    return engine_->has_ready() || pauses_.has_ready() || source_cancelled_;
}

// Pulls from the newest source first. A started task runs user code, which may add and end sources. Therefore each
// search starts again at the newest source.
void MADSchedule::pull() noexcept {
    if (source_cancelled_) end_cancelled_sources();
    while (engine_->has_room()) {
        detail::task_source* source = newest_;
        while (source && source->pull() == detail::task_source::pulled::idle) source = source->older_;
        if (!source) return;
    }
}

// Ends sources even if the window has no space, because other sources might never leave any.
void MADSchedule::end_cancelled_sources() noexcept {
    source_cancelled_ = false;
    for (detail::task_source* source = newest_; source;) {
        if (!source->cancelled()) {
            source = source->older_;
            continue;
        }
        source->pull();
        source = newest_;
    }
}

void MADSchedule::add_source(detail::task_source& s) noexcept {
    s.older_ = newest_;
    s.newer_ = nullptr;
    if (newest_) newest_->newer_ = &s;
    newest_ = &s;
}

void MADSchedule::remove_source(detail::task_source& s) noexcept {
    (s.newer_ ? s.newer_->older_ : newest_) = s.older_;
    if (s.older_) s.older_->newer_ = s.newer_;
}

} // namespace comad::coro
