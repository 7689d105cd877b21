// SPDX-License-Identifier: MIT
// with_timeout.hpp - a task that may take only so long on its schedule's clock. Knows no MAD: an RPC has a timeout of its own.
#pragma once
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/coro/scope.hpp>

#include <optional>
#include <utility>

namespace comad::coro {

namespace detail {

template <class T>
task<void> put_and_cancel(task<T> t, std::optional<value_or_monostate<T>>& value, scope_state& together) {
    co_await put(std::move(t), value, together);
    together.cancel();
}

/// Defined once, in with_timeout.cpp.
task<void> cancel_after(MADSchedule&, mad::duration, scope_state& together, bool& is_over);

} // namespace detail

/// Runs `t` for at most `length`, which counts as that of MADSchedule::pause. Gives its value; or nothing when the time was
/// over first: `t` is then cancelled, and has ended when this has. For a task<void> the value is std::monostate.
/// Errors:   what `t` throws is thrown, also after the time was over.
/// Cancel:   from outside reaches `t`, which ends and gives its value.
/// Lifetime: nothing outlives it. A task that does not end when it is cancelled is waited for. Threads: the schedule's alone.
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
