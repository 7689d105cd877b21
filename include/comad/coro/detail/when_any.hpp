// SPDX-License-Identifier: MIT
// when_any.hpp - tasks that run at the same time until one has ended. Knows no driver and no MAD.
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

/// Which of several tasks ended first, and its value.
template <class T> struct first_of {
    std::size_t index;
    T value;
};

namespace detail {

/// Calls `ended` with the value of `t` if it is the first, and cancels those beside it.
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

/// A function object for race(), with a name: GCC 12 and captures (docs/reference/library.md).
template <std::size_t I, class Variant> struct keep_as {
    std::optional<Variant>* first;
    template <class T> void operator()(T&& value) const {
        first->emplace(std::in_place_index<I>, std::forward<T>(value));
    }
};
template <class T> struct keep_at {
    std::optional<first_of<T>>* first;
    std::size_t index;
    void operator()(T&& value) const { first->emplace(first_of<T>{index, std::move(value)}); }
};

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

/// Runs tasks at the same time. When one has ended the others are cancelled; when these have ended as well, gives the value
/// of the first: a std::variant whose index() says which it was, std::monostate for a task<void>.
/// Errors:   an error of the fabric is a value as any other: whoever fails first is first. What any task throws, after it was
///           cancelled too, cancels the others and is thrown when all have ended: the first exception, before any value.
/// Cancel:   reaches all of them; the one that ends first is the first.
/// Lifetime: nothing of theirs outlives it; values of those that came later are dropped. Threads: the schedule's alone.
template <class... Ts>
    requires(sizeof...(Ts) > 0)
task<std::variant<detail::value_or_monostate<Ts>...>> when_any(task<Ts>... tasks) {
    return detail::any_of(std::tuple<task<Ts>...>(std::move(tasks)...), std::index_sequence_for<Ts...>{});
}

/// The same for any number of tasks of one type: the index of the first and its value. Throws std::invalid_argument if there
/// is no task.
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
