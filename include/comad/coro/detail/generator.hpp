// SPDX-License-Identifier: MIT
// generator.hpp - generator: a lazy sequence of values, as std::generator of C++23. It depends on no schedule.
#pragma once
#include <comad/coro/detail/frame_cache.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <utility>

namespace comad::coro {

/// A coroutine that yields values of type T with `co_yield`. It runs only during next().
template <class T> class [[nodiscard]] generator {
public:
    struct promise_type : detail::recycled {
        T* current = nullptr;
        std::exception_ptr error;
        generator get_return_object() noexcept {
            return generator(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(T& value) noexcept {
            current = std::addressof(value);
            return {};
        }
        std::suspend_always yield_value(T&& value) noexcept { return yield_value(value); }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { error = std::current_exception(); }
    };

    generator(generator&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    generator& operator=(generator&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~generator() {
        if (frame_) frame_.destroy();
    }

    /// Returns the next value, which is valid until the next call, or null at the end. Rethrows what the body threw.
    T* next() {
        if (!frame_ || frame_.done()) return nullptr;
        frame_.resume();
        if (!frame_.done()) return frame_.promise().current;
        if (frame_.promise().error) std::rethrow_exception(frame_.promise().error);
        return nullptr;
    }

private:
    explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

} // namespace comad::coro
