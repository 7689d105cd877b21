// SPDX-License-Identifier: MIT
// with_timeout.hpp - with_timeout(): limits how long a task may run on the clock of its schedule. RPCs have timeouts of their own.
#pragma once
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/coro/scope.hpp>

#include <optional>
#include <utility>

namespace comad::coro {

namespace detail {

/// Stores the value of `t` and cancels the timer in `together`.
template <class T>
task<void> put_and_cancel(task<T> t, std::optional<value_or_monostate<T>>& value, scope_state& together) {
    co_await put(std::move(t), value, together);
    together.cancel();
}

/// Cancels `together` after `length` and sets `is_over`. Defined in with_timeout.cpp, so that it is compiled once.
task<void> cancel_after(MADSchedule&, mad::duration, scope_state& together, bool& is_over);

} // namespace detail

/// Runs `t` for at most `length`, which is measured as in MADSchedule::pause. Returns its value, std::monostate for a
/// task<void>. If the time ends first, it cancels `t`, waits for its end and returns nullopt.
/// Errors:   throws what `t` throws, even after the time has ended.
/// Cancel:   a cancellation from outside reaches `t`, which ends and returns its value.
/// Lifetime: the task is destroyed before the operation ends. If the task does not end when it is canceled, the
///           operation waits for it.
/// Threads:  only the thread of the schedule.
template <class T>
task<std::optional<detail::value_or_monostate<T>>> with_timeout(MADSchedule& schedule, mad::duration length,
                                                                task<T> t) {
    std::optional<detail::value_or_monostate<T>> value;
    bool is_over = false;
    scope together(co_await current_scope{});
    together.spawn(detail::put_and_cancel(std::move(t), value, together.state()));
    together.spawn(detail::cancel_after(schedule, length, together.state(), is_over));
    co_await together.join();
    if (is_over) value.reset();
    co_return std::move(value);
}

} // namespace comad::coro
