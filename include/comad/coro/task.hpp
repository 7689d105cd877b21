// SPDX-License-Identifier: MIT
// task.hpp - task: a lazy coroutine that one coroutine awaits. It is resumed by symmetric transfer.
// It depends on no driver, so the same coroutine runs under every driver.
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

/// Owns tasks that no coroutine awaits directly (the children of a scope or of an mqueue). Each task reports its end
/// to its owner.
class child_owner {
public:
    /// Called when the task reaches its final suspension. May destroy the task's frame. Returns the coroutine to run
    /// next.
    virtual std::coroutine_handle<> child_done(promise_base&) noexcept = 0;

protected:
    ~child_owner() = default;
};

/// The part of a task's promise that does not depend on the type of its value.
struct promise_base : recycled {
    std::coroutine_handle<> continuation = std::noop_coroutine(); // the coroutine that awaits the task
    scope_state* scope = nullptr; // its cancellation reaches the task; inherited from the awaiting coroutine
    child_owner* owner = nullptr; // only for children
    std::coroutine_handle<> self; // the frame of the task; only for children
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

/// The promise of a task<T>.
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

/// A list of the children of a scope or an mqueue. The links are in their promises.
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

/// A coroutine that returns a T. It starts when another coroutine awaits it or a schedule queues it, and can be
/// awaited once. The holder of the object owns the coroutine.
/// Destroying a suspended task destroys its frame and withdraws the MAD that it waits for.
/// Lifetime: the frame contains copies of parameters that are values. A reference or a span must refer to something
///           that outlives the task.
template <class T> class [[nodiscard]] task {
public:
    using promise_type = detail::promise<T>;
    using value_type = T;

    /// Creates an empty task. A generator yields an empty task if there is nothing to start now (see
    /// MADSchedule::mqueue).
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

    /// Releases the frame. The caller must destroy it.
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
