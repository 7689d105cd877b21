// SPDX-License-Identifier: MIT
// event.cpp - who waits for an event, in their order.
#include <comad/coro/event.hpp>

namespace comad::coro {

void event::add(detail::waiting& w) noexcept { w.join_behind(waiting_.previous()); }

void event::set() noexcept {
    set_ = true;
    while (!waiting_.alone()) resumed_by_.end_soon(static_cast<detail::waiting&>(waiting_.next()), true);
}

} // namespace comad::coro
