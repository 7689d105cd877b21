// SPDX-License-Identifier: MIT
// event.cpp - the list of tasks that wait for an event, in the order in which they started to wait.
#include <comad/coro/event.hpp>

namespace comad::coro {

void event::add(detail::waiting& w) noexcept { w.insert_after(waiting_.previous()); }

void event::set() noexcept {
    set_ = true;
    while (!waiting_.alone()) resumed_by_.end_soon(static_cast<detail::waiting&>(waiting_.next()), true);
}

} // namespace comad::coro
