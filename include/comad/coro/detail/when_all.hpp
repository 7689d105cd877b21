// SPDX-License-Identifier: MIT
// when_all.hpp - when_all(): runs several tasks at the same time and returns all their values. It depends on no driver and no MAD.
#pragma once
#include <comad/coro/scope.hpp>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace comad::coro {

namespace detail {

/// The value of a task<T> in a tuple or variant: std::monostate for a task<void>.
template <class T> using value_or_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Stores the value of `t`. An exception of `t` cancels the other tasks in `together`.
template <class T> task<void> put(task<T> t, std::optional<value_or_monostate<T>>& value, scope_state& together) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(t);
            value.emplace();
        } else {
            T given = co_await std::move(t);
            value.emplace(std::move(given));
        }
    } catch (...) {
        together.cancel();
        throw;
    }
}

/// Implements when_all() for a tuple of tasks.
template <class... Ts, std::size_t... I>
task<std::tuple<value_or_monostate<Ts>...>> all_of(std::tuple<task<Ts>...> tasks, std::index_sequence<I...>) {
    std::tuple<std::optional<value_or_monostate<Ts>>...> values;
    scope together(co_await current_scope{});
    (together.spawn(put(std::move(std::get<I>(tasks)), std::get<I>(values), together.state())), ...);
    co_await together.join();
    co_return std::tuple<value_or_monostate<Ts>...>(std::move(*std::get<I>(values))...);
}

} // namespace detail

/// Runs tasks at the same time and returns their values in the order of the arguments, std::monostate for a task<void>.
///
///     auto [info, counters] = co_await when_all(read_info(s), read_counters(s));
///
/// Errors:   the values contain failures of the fabric, which do not affect the other tasks. An exception of a task
///           cancels the other tasks. When all have ended, the first exception is thrown.
/// Cancel:   cancels all tasks. They still end and return their values.
/// Lifetime: all tasks are destroyed before the operation ends.
/// Threads:  only the thread of the schedule.
template <class... Ts> task<std::tuple<detail::value_or_monostate<Ts>...>> when_all(task<Ts>... tasks) {
    return detail::all_of(std::tuple<task<Ts>...>(std::move(tasks)...), std::index_sequence_for<Ts...>{});
}

/// Runs any number of tasks of one type, and starts all at once. For many tasks, use MADSchedule::mqueue, which
/// starts them as the window has space.
template <class T> task<std::vector<T>> when_all(std::vector<task<T>> tasks) {
    std::vector<std::optional<T>> values(tasks.size());
    scope together(co_await current_scope{});
    for (std::size_t i = 0; i < tasks.size(); ++i)
        together.spawn(detail::put(std::move(tasks[i]), values[i], together.state()));
    co_await together.join();
    std::vector<T> result;
    result.reserve(values.size());
    for (std::optional<T>& value : values) result.push_back(std::move(*value));
    co_return result;
}

/// Runs any number of tasks without values, and starts all at once.
inline task<void> when_all(std::vector<task<void>> tasks) {
    std::optional<std::monostate> value;
    scope together(co_await current_scope{});
    for (task<void>& t : tasks) together.spawn(detail::put(std::move(t), value, together.state()));
    co_await together.join();
}

} // namespace comad::coro
