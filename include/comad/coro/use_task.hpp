// SPDX-License-Identifier: MIT
// use_task.hpp - use_task: an Asio completion token that lets a task await any Asio operation. It depends on no MAD.
#pragma once
#include <comad/coro/asio.hpp>
#include <comad/coro/scope.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace comad::coro {

/// A completion token for tasks that run on the driver's schedule: `auto [error, n] = co_await
/// socket.async_read_some(buffer, use_task(driver));`
/// Gives:    the values that the handler would get: none, one value, or a std::tuple. An error_code is one of these
///           values and is not thrown, because network failures are values, like failures of the fabric. If the first
///           value is a std::exception_ptr, it is thrown if it is not null, and is otherwise left out.
/// Resumes:  in the driver's executor. The initiating function never resumes the task.
/// Cancel:   canceling the task's domain cancels the operation with cancellation_type::terminal. Most operations
///           then end with error::operation_aborted. Operations without cancellation support end when they are done.
/// Lifetime: await it once, in the expression that creates it or from a named local variable. Destroying a task that
///           waits cancels the operation at once and does not resume the task. If an operation does not support
///           cancellation, its buffers must outlive the operation.
class use_task {
public:
    explicit use_task(asio_driver& driver) noexcept : driver_(&driver) {}
    /// Returns the driver whose schedule runs the task.
    asio_driver& driver() const noexcept { return *driver_; }

private:
    asio_driver* driver_;
};

namespace detail {

/// The part of asio_awaiter that does not depend on the initiation.
template <class... Values> class asio_awaiter_base : protected pending {
protected:
    using values = std::tuple<Values...>;
    /// The state that the operation's handler shares with the waiting task. Only the driver's executor uses it.
    struct shared {
        asio_awaiter_base* waiting; // null: destroyed or resumed
        boost::asio::cancellation_signal signal;
    };

    /// The handler of the operation.
    struct complete {
        using executor_type = boost::asio::any_io_executor;
        using cancellation_slot_type = boost::asio::cancellation_slot;
        executor_type executor;
        std::shared_ptr<shared> state;
        executor_type get_executor() const noexcept { return executor; }
        cancellation_slot_type get_cancellation_slot() const noexcept { return state->signal.slot(); }
        void operator()(Values... given) {
            if (asio_awaiter_base* const to = std::exchange(state->waiting, nullptr)) to->end(std::move(given)...);
        }
    };

    explicit asio_awaiter_base(asio_driver& driver) noexcept : driver_(driver) {}
    ~asio_awaiter_base() override {
        if (!state_ || !state_->waiting) return;
        state_->waiting = nullptr;
        state_->signal.emit(boost::asio::cancellation_type::terminal); // now: its buffers may end with the task
    }

    /// Starts the operation. Returns false if the operation has ended already.
    template <class Start> bool begin(std::coroutine_handle<> awaiting, scope_state* scope, Start&& start) {
        awaiting_ = awaiting;
        state_ = std::make_shared<shared>();
        state_->waiting = this;
        const auto held = state_;
        std::forward<Start>(start)(complete{driver_.get_executor(), state_});
        beginning_ = false;
        if (given_) return false;
        link(scope);
        if (scope && scope->cancelled()) cancel();
        return true;
    }
    values take() { return std::move(*given_); }

private:
    void cancel() noexcept override {
        boost::asio::post(driver_.get_executor(), [state = state_] {
            if (state->waiting) state->signal.emit(boost::asio::cancellation_type::terminal);
        });
    }
    void end(Values&&... given) {
        unlink();
        given_.emplace(std::move(given)...);
        if (beginning_) return;
        driver_.wake();     // the task may start operations
        awaiting_.resume(); // this object may be gone after it
    }

    asio_driver& driver_;
    std::coroutine_handle<> awaiting_;
    std::shared_ptr<shared> state_;
    std::optional<values> given_;
    bool beginning_ = true;
};

/// Returns the values of a handler as `co_await` returns them.
template <class... Values> auto values_given(std::tuple<Values...>&& all) {
    if constexpr (sizeof...(Values) == 1) return std::move(std::get<0>(all));
    else if constexpr (sizeof...(Values) > 1) return std::move(all);
}
template <class... Values> auto values_given(std::tuple<std::exception_ptr, Values...>&& all) {
    if (std::get<0>(all)) std::rethrow_exception(std::get<0>(all));
    return std::apply(
        [](std::exception_ptr&, Values&... rest) { return values_given(std::tuple<Values...>(std::move(rest)...)); },
        all);
}

/// An operation that has not started, and the wait for its end.
template <class Initiation, class Arguments, class... Values>
class [[nodiscard]] asio_awaiter final : public asio_awaiter_base<Values...> {
    using base = asio_awaiter_base<Values...>;

public:
    asio_awaiter(asio_driver& driver, Initiation initiation, Arguments arguments)
        : base(driver), initiation_(std::move(initiation)), arguments_(std::move(arguments)) {}

    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) {
        return base::begin(awaiting, awaiting.promise().scope, [this](auto handler) {
            std::apply([&](auto&... a) { std::move(initiation_)(std::move(handler), std::move(a)...); }, arguments_);
        });
    }
    auto await_resume() { return values_given(base::take()); }

private:
    Initiation initiation_;
    Arguments arguments_;
};

} // namespace detail
} // namespace comad::coro

/// Defines how Asio starts an operation that gets a use_task token.
template <class... Values> class boost::asio::async_result<comad::coro::use_task, void(Values...)> {
public:
    template <class Initiation, class... Arguments>
    static auto initiate(Initiation&& initiation, comad::coro::use_task token, Arguments&&... arguments) {
        using stored = std::tuple<std::decay_t<Arguments>...>;
        return comad::coro::detail::asio_awaiter<std::decay_t<Initiation>, stored, std::decay_t<Values>...>(
            token.driver(), std::forward<Initiation>(initiation), stored(std::forward<Arguments>(arguments)...));
    }
};
