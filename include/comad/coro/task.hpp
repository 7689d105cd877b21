// SPDX-License-Identifier: MIT
// task.hpp - the coroutine that users write: lazy, awaited by one, resumed by symmetric transfer.
// Knows scopes only by name and no driver, so the same coroutine runs under every driver.
#pragma once
#include <comad/coro/detail/frame_cache.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace comad::coro {

class scope_state;
template <class T = void> class task;

namespace detail {

struct promise_base;

/// Owns tasks that nobody awaits by name (children of a scope, of mqueue) and hears of their end.
class child_owner {
public:
    /// The task is suspended for the last time. May destroy its frame; returns what runs next.
    virtual std::coroutine_handle<> child_done(promise_base&) noexcept = 0;

protected:
    ~child_owner() = default;
};

struct promise_base : recycled {
    std::coroutine_handle<> continuation = std::noop_coroutine(); // who awaits the task
    scope_state* scope = nullptr; // whose cancellation reaches it: inherited from the awaiter
    child_owner* owner = nullptr; // set for children
    std::coroutine_handle<> self; // of children: their frame
    promise_base* previous_child = nullptr;
    promise_base* next_child = nullptr;
    std::exception_ptr exception;

    struct final_awaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
            promise_base& p = finished.promise();
            return p.owner ? p.owner->child_done(p) : p.continuation;
        }
        void await_resume() const noexcept {}
    };
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { exception = std::current_exception(); }
    void rethrow() const {
        if (exception) std::rethrow_exception(exception);
    }
};

template <class T> struct promise final : promise_base {
    std::optional<T> value;
    task<T> get_return_object() noexcept;
    template <class U> void return_value(U&& u) {
        constexpr bool fits = std::is_constructible_v<T, U>;
        static_assert(fits,
                      "co_return: the value does not convert to the T of this task<T>. A task that returns errors, by "
                      "co_return or BOOST_OUTCOME_CO_TRY, must be a task<mad::result<T>>");
        if constexpr (fits) value.emplace(std::forward<U>(u));
    }
    T take() {
        rethrow();
        return std::move(*value);
    }
};

template <> struct promise<void> final : promise_base {
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() const { rethrow(); }
};

/// Owned children of a scope or of mqueue, threaded through their promises.
class child_list {
public:
    bool empty() const noexcept { return !first_; }
    promise_base* first() const noexcept { return first_; }
    void add(promise_base& child) noexcept {
        child.previous_child = nullptr;
        child.next_child = first_;
        if (first_) first_->previous_child = &child;
        first_ = &child;
    }
    void remove(promise_base& child) noexcept {
        (child.previous_child ? child.previous_child->next_child : first_) = child.next_child;
        if (child.next_child) child.next_child->previous_child = child.previous_child;
    }

private:
    promise_base* first_ = nullptr;
};

} // namespace detail

/// A coroutine that gives a T. It starts when it is awaited (or queued), once, and belongs to whoever holds it:
/// destroying a suspended task destroys its frame, and with it withdraws whatever MAD it waits for.
/// Parameters are copied into the frame only if they are values: a reference or a span must outlive the task.
template <class T> class [[nodiscard]] task {
public:
    using promise_type = detail::promise<T>;
    using value_type = T;

    /// No task; what a generator yields to say "nothing to start just now" (see MADSchedule::mqueue).
    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    task& operator=(task&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~task() {
        if (frame_) frame_.destroy();
    }
    explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

    struct awaiter {
        std::coroutine_handle<promise_type> frame;
        bool await_ready() const noexcept { return false; }
        template <class Awaiting>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Awaiting> awaiting) const noexcept {
            frame.promise().continuation = awaiting;
            frame.promise().scope = awaiting.promise().scope;
            return frame;
        }
        T await_resume() const { return frame.promise().take(); }
    };
    awaiter operator co_await() const&& noexcept { return awaiter{frame_}; }

    /// For owners of started tasks: the frame is theirs to destroy.
    std::coroutine_handle<promise_type> release() noexcept { return std::exchange(frame_, {}); }

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

template <class T> task<T> detail::promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<promise<T>>::from_promise(*this));
}
inline task<void> detail::promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<promise<void>>::from_promise(*this));
}

} // namespace comad::coro
