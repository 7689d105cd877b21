// SPDX-License-Identifier: MIT
// schedule.cpp - what drivers move, and the sources that are pulled.
#include <comad/coro/schedule.hpp>

namespace comad::coro {

MADSchedule::MADSchedule(mad::transport& t, schedule_options options)
    : transport_(t), options_(options), engine_(t, {options.max_outstanding, options.per_destination, options.seed}) {}

MADSchedule::~MADSchedule() = default;

bool MADSchedule::receive(unsigned max) noexcept {
    bool received = false;
    for (; max > 0; --max) {
        const mad::received message = transport_.receive(buffer_);
        if (message.state == mad::receive_state::would_block) break;
        if (message.state == mad::receive_state::failed) transport_failed_ = true;
        engine_.on_received(message);
        received = true;
        if (newest_) pull();
        if (transport_failed_) break;
    }
    if (received) engine_.resume_sends();
    return max == 0;
}

bool MADSchedule::settle() noexcept {
    engine_.run_ready();
    engine_.resume_sends();
    pull();
    return engine_.has_ready() || source_cancelled_;
}

// Newest source first. Starting a task runs user code, which may add sources and end them: look from the top each time.
void MADSchedule::pull() noexcept {
    if (source_cancelled_) end_cancelled_sources();
    while (engine_.has_room()) {
        detail::task_source* source = newest_;
        while (source && source->pull() == detail::task_source::pulled::idle) source = source->older_;
        if (!source) return;
    }
}

// Whether there is room or not: others might never leave any.
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
