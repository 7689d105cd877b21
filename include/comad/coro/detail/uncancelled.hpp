// SPDX-License-Identifier: MIT
// uncancelled.hpp - uncancelled(): makes a short read even if its domain is canceled. A write that a signal interrupted uses it to
// verify its effect.
// It depends on no MAD.
#pragma once
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/mad/error.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace comad::coro {

/// Runs the task that `make` returns. If the domain of the awaiting task is canceled, before or during that task, it
/// runs another one. The second task runs outside the domain, for at most `length` of the schedule's time.
/// Errors:   those of the task; errc::timed_out without a detail if `length` ended first.
/// Cancel:   a cancellation starts the second task, which delays the end by at most `length`.
/// Lifetime: everything that `make` refers to must outlive the operation.
/// Threads:  only the thread of the schedule.
template <class T>
task<mad::result<T>> uncancelled(MADSchedule& schedule, mad::duration length,
                                 std::function<task<mad::result<T>>()> make) {
    const scope_state& domain = co_await current_scope{};
    if (!domain.cancelled()) {
        auto first = make();
        auto value = co_await std::move(first);
        if (value || value.error().code != mad::errc::cancelled) co_return value;
    }
    scope_state outside(nullptr);
    auto bounded = with_timeout(schedule, length, make());
    auto running = job<std::optional<mad::result<T>>>::start(std::move(bounded), outside);
    std::optional<mad::result<T>> value = co_await running;
    if (value) co_return std::move(*value);
    mad::mad_error late;
    late.code = mad::errc::timed_out;
    co_return late;
}

} // namespace comad::coro
