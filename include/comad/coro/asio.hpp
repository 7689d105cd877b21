// SPDX-License-Identifier: MIT
// asio.hpp - runs a schedule in a Boost.Asio program: the driver, and async_run() and async_SubnGet(), which turn tasks and RPCs into
// Asio operations.
// Only this header and those that include it depend on Asio.
#pragma once
#include <comad/coro/schedule.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace comad::coro {

class asio_driver;

namespace detail {

/// An unfinished operation. The driver keeps driving the schedule while it has one.
class driven {
public:
    /// Ends the operation without completing it, because the driver is destroyed.
    virtual void abandon() noexcept = 0;

protected:
    virtual ~driven() = default;

private:
    friend class comad::coro::asio_driver;
    driven* previous_ = nullptr;
    driven* next_ = nullptr;
};

} // namespace detail

/// Drives a schedule from an io_context. The driver waits until the transport's descriptor is readable, reads all
/// messages, and keeps one timer, which it arms only if needed. It waits only while an operation that async_run()
/// started is unfinished. Therefore io_context::run() returns when all operations are done.
/// Threads: everything happens in the driver's executor: an io_context that one thread runs, or a strand. Use,
///          construct and destroy the driver there, or while nothing else runs in that executor. For other threads,
///          see asio_transactor.hpp.
class asio_driver {
public:
    /// Creates a driver for a schedule. The transport must have a descriptor, which the transport continues to own.
    /// The only exception is a schedule in virtual time that belongs to a testing::virtual_fabric.
    /// Errors:   throws std::invalid_argument if the schedule is in virtual time but not in a virtual_fabric. Throws
    ///           boost::system::system_error if the descriptor cannot be registered.
    /// Lifetime: the io_context and the schedule must outlive the driver.
    asio_driver(boost::asio::io_context& io, MADSchedule& schedule) : asio_driver(io.get_executor(), schedule) {}
    /// Creates a driver in an executor that runs one handler at a time. Pass a strand if several threads run the
    /// io_context.
    asio_driver(boost::asio::any_io_executor executor, MADSchedule& schedule);
    /// Destroys unfinished operations with their tasks. It destroys their handlers without calling them.
    ~asio_driver();
    asio_driver(const asio_driver&) = delete;
    asio_driver& operator=(const asio_driver&) = delete;

    /// Returns the schedule that this driver drives.
    MADSchedule& schedule() noexcept;
    /// Returns the executor in which the driver runs.
    boost::asio::any_io_executor get_executor() const noexcept;

    /// Makes the driver run a turn of the schedule soon. Call it after a handler outside the schedule cancels or
    /// queues something. A driver that waits for the transport or a deadline cannot detect such changes.
    void wake();

    /// Adds an operation to wait for. The driver drives the schedule until finished() removes the operation.
    /// Removes an operation that started() added.
    void started(detail::driven&);
    void finished(detail::driven&);
    /// Returns a pointer that expires when the driver is destroyed.
    std::weak_ptr<void> watch() const noexcept;

private:
    struct impl;
    std::shared_ptr<impl> impl_;
};

namespace detail {

/// Returns the executor of a handler and keeps outstanding work on it. executor_work_guard does not support a strand
/// inside an any_io_executor.
template <class Handler> auto working_executor(const Handler& h, const boost::asio::any_io_executor& otherwise) {
    return boost::asio::prefer(boost::asio::get_associated_executor(h, otherwise),
                               boost::asio::execution::outstanding_work.tracked);
}
/// The type that working_executor() returns for a handler.
template <class Handler>
using working_executor_of =
    decltype(working_executor(std::declval<const Handler&>(), std::declval<const boost::asio::any_io_executor&>()));

/// The completion signature of async_run() for a task<T>.
template <class T> struct completion_signature {
    using type = void(T);
};
template <> struct completion_signature<void> {
    using type = void();
};

// The state of one async_run(): the handler, the cancellation domain and the running task.
// The task is the last member, so that it is destroyed first.
template <class T, class Handler> struct asio_operation final : driven {
    using allocator = typename std::allocator_traits<boost::asio::associated_allocator_t<
        Handler, boost::asio::recycling_allocator<void>>>::template rebind_alloc<asio_operation>;
    static allocator allocator_of(const Handler& h) {
        return allocator(boost::asio::get_associated_allocator(h, boost::asio::recycling_allocator<void>()));
    }

    asio_operation(asio_driver& d, Handler h)
        : driver(d), handler(std::move(h)), home(working_executor(handler, d.get_executor())),
          domain(&d.schedule().root()) {}

    asio_driver& driver;
    Handler handler;
    working_executor_of<Handler> home;
    scope_state domain;
    std::optional<job<void>> running;

    // The coroutine frame that calls these functions still exists. Asio destroys the operation later, from outside
    // the frame.
    template <class... Value> void complete(Value&&... value) {
        boost::asio::post(driver.get_executor(),
                          [this, alive = driver.watch(), ... v = std::forward<Value>(value)]() mutable {
                              if (alive.expired()) return;
                              const auto to = std::move(home);
                              Handler h = end();
                              boost::asio::dispatch(to, [h = std::move(h), ... w = std::move(v)]() mutable {
                                  std::move(h)(std::move(w)...);
                              });
                          });
    }
    void fail(const std::exception_ptr& thrown) {
        boost::asio::post(driver.get_executor(), [this, alive = driver.watch(), thrown] {
            if (alive.expired()) return;
            end();
            std::rethrow_exception(thrown);
        });
    }

    void abandon() noexcept override { end(); }

private:
    Handler end() {
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) slot.clear(); // the owner of the signal may still emit it
        Handler h = std::move(handler);
        driver.finished(*this);
        allocator a = allocator_of(h);
        std::destroy_at(this);
        a.deallocate(this, 1);
        return h;
    }
};

/// Runs `t` and passes its result or exception to the operation.
template <class T, class Operation> task<void> run_and_complete(task<T> t, Operation& operation) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(t);
            operation.complete();
        } else {
            T value = co_await std::move(t);
            operation.complete(std::move(value));
        }
    } catch (...) {
        operation.fail(std::current_exception());
    }
}

/// Creates and starts the operation of one async_run().
struct initiate_run {
    template <class Handler, class T> void operator()(Handler&& handler, asio_driver* driver, task<T> t) const {
        using operation = asio_operation<T, std::decay_t<Handler>>;
        auto a = operation::allocator_of(handler);
        operation* o = std::construct_at(a.allocate(1), *driver, std::forward<Handler>(handler));
        auto slot = boost::asio::get_associated_cancellation_slot(o->handler);
        if (slot.is_connected()) {
            slot.assign([o](boost::asio::cancellation_type) {
                o->domain.cancel();
                o->driver.wake();
            });
        }
        driver->started(*o);
        o->running.emplace(job<void>::start(run_and_complete(std::move(t), *o), o->domain));
    }
};

} // namespace detail

/// Runs `t` on the driver's schedule and completes `token` with its value. The signature is void(T), or void() for a
/// task<void>. The token can be a callback, asio::use_future or asio::use_awaitable:
/// `co_await async_run(driver, discover(...), asio::use_awaitable)`.
/// Errors:   the value (mad::result) contains failures of the fabric. An exception of the task leaves
///           io_context::run(), as an exception of a handler does; the token is then not completed.
/// Cancel:   the token's cancellation slot cancels the operations that the task waits for. The task still ends and
///           completes the token.
/// Lifetime: the driver must outlive the operation.
template <class T, class Token> auto async_run(asio_driver& driver, task<T> t, Token&& token) {
    return boost::asio::async_initiate<Token, typename detail::completion_signature<T>::type>(
        detail::initiate_run{}, token, &driver, std::move(t));
}

namespace detail {
/// Makes one SubnGet as a task.
template <class T>
task<mad::result<T>> subn_get(MADSchedule& schedule, mad::any_path path, u32 attributeModifier, rpc_options options) {
    co_return co_await schedule.SubnGet<T>(path, attributeModifier, options);
}
} // namespace detail

/// Makes one SubnGet as an Asio operation and completes `token` with mad::result<T>.
template <iba::attribute T, class Token>
auto async_SubnGet(asio_driver& driver, const mad::any_path& path, u32 attributeModifier, rpc_options options,
                   Token&& token) {
    return async_run(driver, detail::subn_get<T>(driver.schedule(), path, attributeModifier, options),
                     std::forward<Token>(token));
}

} // namespace comad::coro
