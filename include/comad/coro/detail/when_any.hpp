// SPDX-License-Identifier: MIT
// when_any.hpp - when_any(): runs several tasks at the same time until one has ended. It depends on no driver and no MAD.
#pragma once
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/scope.hpp>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace comad::coro {

/// The index and the value of the task that ended first.
template <class T> struct first_of {
    std::size_t index;
    T value;
};

namespace detail {

/// Calls `ended` with the value of `t` if `t` is the first to end, and cancels the other tasks in `together`.
template <class T, class Ended> task<void> race(task<T> t, bool& is_over, scope_state& together, Ended ended) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(t);
            if (!std::exchange(is_over, true)) ended(std::monostate{});
        } else {
            T given = co_await std::move(t);
            if (!std::exchange(is_over, true)) ended(std::move(given));
        }
    } catch (...) {
        together.cancel();
        throw;
    }
    together.cancel();
}

/// A function object for race(). It is a named type, because GCC 12 can miscompile a lambda with captures here
/// (docs/reference/library.md).
template <std::size_t I, class Variant> struct keep_as {
    std::optional<Variant>* first;
    template <class T> void operator()(T&& value) const {
        first->emplace(std::in_place_index<I>, std::forward<T>(value));
    }
};
/// A function object for race() with tasks of one type.
template <class T> struct keep_at {
    std::optional<first_of<T>>* first;
    std::size_t index;
    void operator()(T&& value) const { first->emplace(first_of<T>{index, std::move(value)}); }
};

/// Implements when_any() for a tuple of tasks.
template <class... Ts, std::size_t... I>
task<std::variant<value_or_monostate<Ts>...>> any_of(std::tuple<task<Ts>...> tasks, std::index_sequence<I...>) {
    using variant = std::variant<value_or_monostate<Ts>...>;
    std::optional<variant> first;
    bool is_over = false;
    scope together(co_await current_scope{});
    (together.spawn(race(std::move(std::get<I>(tasks)), is_over, together.state(), keep_as<I, variant>{&first})), ...);
    co_await together.join();
    co_return std::move(*first);
}

} // namespace detail

/// Runs tasks at the same time and returns the value of the task that ends first. When one has ended, it cancels the
/// others and waits for their ends. The index() of the returned std::variant is the position of the first task to
/// end; a task<void> has std::monostate.
/// Errors:   a failure of the fabric is a value, so a task that fails first is the first. An exception of any task,
///           even of a canceled one, cancels the other tasks. When all have ended, the first exception is thrown
///           instead of a value.
/// Cancel:   cancels all tasks. The one that ends first is the first.
/// Lifetime: all tasks are destroyed before the operation ends. The values of later tasks are dropped.
/// Threads:  only the thread of the schedule.
template <class... Ts>
    requires(sizeof...(Ts) > 0)
task<std::variant<detail::value_or_monostate<Ts>...>> when_any(task<Ts>... tasks) {
    return detail::any_of(std::tuple<task<Ts>...>(std::move(tasks)...), std::index_sequence_for<Ts...>{});
}

/// Runs any number of tasks of one type and returns the index and the value of the first. Throws
/// std::invalid_argument if there is no task.
template <class T> task<first_of<detail::value_or_monostate<T>>> when_any(std::vector<task<T>> tasks) {
    using value = detail::value_or_monostate<T>;
    if (tasks.empty()) throw std::invalid_argument("when_any needs at least one task");
    std::optional<first_of<value>> first;
    bool is_over = false;
    scope together(co_await current_scope{});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const detail::keep_at<value> keep{&first, i};
        together.spawn(detail::race(std::move(tasks[i]), is_over, together.state(), keep));
    }
    co_await together.join();
    co_return std::move(*first);
}

} // namespace comad::coro
