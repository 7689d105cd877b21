// SPDX-License-Identifier: MIT
// pause.cpp - keeps the pauses of a schedule in the order in which they end, and resumes their tasks.
#include <comad/coro/detail/pause.hpp>

namespace comad::coro::detail {

void pauses::begin(pause_awaiter& p) noexcept { static_cast<waiting&>(p).insert_after(started_.previous()); }

void pauses::end_soon(waiting& w, bool passed) noexcept {
    if (std::exchange(w.ending_, true)) return; // only the first reason to end counts
    w.passed_ = passed;
    w.insert_after(ready_.previous());
}

void pauses::set_now(mad::time_point now) noexcept {
    while (!started_.alone()) {
        auto& p = static_cast<pause_awaiter&>(static_cast<waiting&>(started_.next()));
        if (!p.has_end_) p.end_ = p.length_ < mad::time_point::max() - now ? now + p.length_ : mad::time_point::max();
        ring_link* before = &running_.previous();
        const auto end_of = [](ring_link* l) { return static_cast<pause_awaiter*>(static_cast<waiting*>(l))->end_; };
        while (before != &running_ && end_of(before) > p.end_) before = &before->previous();
        static_cast<waiting&>(p).insert_after(*before);
    }
}

mad::time_point pauses::next_end() const noexcept {
    return running_.alone() ? mad::time_point::max()
                            : static_cast<pause_awaiter&>(static_cast<waiting&>(running_.next())).end_;
}

void pauses::end_due(mad::time_point now) noexcept {
    while (!running_.alone() && next_end() <= now) static_cast<waiting&>(running_.next()).end(true);
}

void pauses::end_ready() noexcept {
    // Waits that become ready during this call are resumed in the next turn. Thus two tasks that wake each other do
    // not block other work.
    ring_link now;
    while (has_ready()) static_cast<waiting&>(ready_.next()).insert_after(now.previous());
    while (!now.alone()) {
        auto& w = static_cast<waiting&>(now.next());
        w.end(w.passed_);
    }
}

} // namespace comad::coro::detail
