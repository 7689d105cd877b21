// SPDX-License-Identifier: MIT
// pause.cpp - the pauses of a schedule, in the order in which they end.
#include <comad/coro/pause.hpp>

namespace comad::coro::detail {

void pauses::begin(pause_awaiter& p) noexcept { p.join_behind(begun_.previous()); }
void pauses::cancel(pause_awaiter& p) noexcept { p.join_behind(cancelled_.previous()); }

void pauses::set_now(mad::time_point now) noexcept {
    while (!begun_.alone()) {
        auto& p = static_cast<pause_awaiter&>(begun_.next());
        p.end_ = p.length_ < mad::time_point::max() - now ? now + p.length_ : mad::time_point::max();
        ring_link* before = &running_.previous();
        while (before != &running_ && static_cast<pause_awaiter*>(before)->end_ > p.end_) before = &before->previous();
        p.join_behind(*before);
    }
}

mad::time_point pauses::next_end() const noexcept {
    return running_.alone() ? mad::time_point::max() : static_cast<pause_awaiter&>(running_.next()).end_;
}

void pauses::end_due(mad::time_point now) noexcept {
    while (!running_.alone() && next_end() <= now) static_cast<pause_awaiter&>(running_.next()).end(true);
}

void pauses::end_cancelled() noexcept {
    while (has_cancelled()) static_cast<pause_awaiter&>(cancelled_.next()).end(false);
}

} // namespace comad::coro::detail
