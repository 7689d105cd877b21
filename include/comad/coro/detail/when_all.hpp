// SPDX-License-Identifier: MIT
// when_all.hpp - tasks that run at the same time, and all of their values. Knows no driver and no MAD.
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

/// What stands in a tuple or variant for the value of a task<T>.
template <class T> using value_or_monostate = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Puts the value of `t` where it belongs. What `t` throws cancels those beside it.
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

template <class... Ts, std::size_t... I>
task<std::tuple<value_or_monostate<Ts>...>> all_of(std::tuple<task<Ts>...> tasks, std::index_sequence<I...>) {
    std::tuple<std::optional<value_or_monostate<Ts>>...> values;
    scope together(co_await current_scope{});
    (together.spawn(put(std::move(std::get<I>(tasks)), std::get<I>(values), together.state())), ...);
    co_await together.join();
    co_return std::tuple<value_or_monostate<Ts>...>(std::move(*std::get<I>(values))...);
}

} // namespace detail

/// Runs tasks at the same time and gives their values in their order, std::monostate for a task<void>:
/// `auto [info, counters] = co_await when_all(read_info(s), read_counters(s));`
/// Errors:   those of the fabric are in the values, and end nobody else. What a task throws cancels the others; when all have
///           ended, the first exception is thrown.
/// Cancel:   reaches all of them; they still end, and their values count.
/// Lifetime: nothing of theirs outlives it. Threads: the schedule's alone.
template <class... Ts> task<std::tuple<detail::value_or_monostate<Ts>...>> when_all(task<Ts>... tasks) {
    return detail::all_of(std::tuple<task<Ts>...>(std::move(tasks)...), std::index_sequence_for<Ts...>{});
}

/// The same for any number of tasks of one type, all begun at once: for many, MADSchedule::mqueue begins them as the window
/// has room.
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

inline task<void> when_all(std::vector<task<void>> tasks) {
    std::optional<std::monostate> value;
    scope together(co_await current_scope{});
    for (task<void>& t : tasks) together.spawn(detail::put(std::move(t), value, together.state()));
    co_await together.join();
}

} // namespace comad::coro
