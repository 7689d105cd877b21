// SPDX-License-Identifier: MIT
// use_task.hpp - any Asio operation as something that a task awaits. Knows no MAD.
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

/// A completion token: `auto [error, n] = co_await socket.async_read_some(buffer, use_task(driver));` in a task that runs on
/// the driver's schedule.
/// Gives:    what the handler would get: nothing, one value, or a std::tuple. An error_code is one of the values, and is not
///           thrown: failures of the network are values, as those of the fabric. A std::exception_ptr in front is thrown if
///           it holds something, and else left out.
/// Resumes:  in the driver's executor, never from inside the initiation.
/// Cancel:   of the task's domain reaches the operation, as cancellation_type::terminal; it then ends as it does for that
///           (most with error::operation_aborted, those that know no cancellation when they are done).
/// Lifetime: awaited once, in the expression that makes it or from a named local. A task that is destroyed while it waits
///           cancels the operation at once and is not resumed. Buffers of operations that know no cancellation must live on.
class use_task {
public:
    explicit use_task(asio_driver& driver) noexcept : driver_(&driver) {}
    asio_driver& driver() const noexcept { return *driver_; }

private:
    asio_driver* driver_;
};

namespace detail {

template <class... Values> class asio_awaiter_base : protected pending {
protected:
    using values = std::tuple<Values...>;
    /// What the operation's handler shares with the task that waits; only the driver's executor touches it.
    struct shared {
        asio_awaiter_base* waiting; // null: gone, or resumed
        boost::asio::cancellation_signal signal;
    };

    /// The handler.
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
        state_->signal.emit(boost::asio::cancellation_type::terminal); // now: its buffers may go with the task
    }

    /// False: it is over already.
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
        driver_.wake();     // for what the task begins
        awaiting_.resume(); // this object may be gone after it
    }

    asio_driver& driver_;
    std::coroutine_handle<> awaiting_;
    std::shared_ptr<shared> state_;
    std::optional<values> given_;
    bool beginning_ = true;
};

/// What is given of the values of a handler.
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

/// An operation that is still to begin, and the wait for it.
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

/// For Asio: how an operation begins that is given a use_task.
template <class... Values> class boost::asio::async_result<comad::coro::use_task, void(Values...)> {
public:
    template <class Initiation, class... Arguments>
    static auto initiate(Initiation&& initiation, comad::coro::use_task token, Arguments&&... arguments) {
        using stored = std::tuple<std::decay_t<Arguments>...>;
        return comad::coro::detail::asio_awaiter<std::decay_t<Initiation>, stored, std::decay_t<Values>...>(
            token.driver(), std::forward<Initiation>(initiation), stored(std::forward<Arguments>(arguments)...));
    }
};
