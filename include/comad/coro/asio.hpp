// SPDX-License-Identifier: MIT
// asio.hpp - a schedule inside a Boost.Asio program: the driver that waits on the transport's descriptor, and the two
// bridges from tasks and RPCs to completion tokens. Asio appears in this header and those that include it alone.
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

/// Something unfinished that a driver has to go on for.
class driven {
public:
    /// Ends it without completing it, because the driver dies.
    virtual void abandon() noexcept = 0;

protected:
    virtual ~driven() = default;

private:
    friend class comad::coro::asio_driver;
    driven* previous_ = nullptr;
    driven* next_ = nullptr;
};

} // namespace detail

/// Moves a schedule from an io_context: waits for readability of the transport's descriptor, drains it, and keeps one
/// lazily armed timer. It waits only while something that was started through async_run is unfinished, so that
/// io_context::run returns.
/// Threads: everything happens in its executor: that of an io_context that one thread runs, or a strand. Also its users must
///          be there, and its constructor and destructor, or nothing may run meanwhile. asio_transactor.hpp is for others.
class asio_driver {
public:
    /// The io_context and the schedule must outlive the driver. The transport must have a descriptor; it stays the transport's.
    /// Only testing::virtual_fabric drives schedules in virtual time, which have no descriptor. Throws std::invalid_argument if the
    /// schedule is in virtual time and not of a virtual_fabric, and boost::system::system_error if the descriptor cannot be registered.
    asio_driver(boost::asio::io_context& io, MADSchedule& schedule) : asio_driver(io.get_executor(), schedule) {}
    /// The same in an executor that does one thing at a time: a strand, where several threads run the io_context.
    asio_driver(boost::asio::any_io_executor executor, MADSchedule& schedule);
    /// Destroys unfinished operations with their tasks; their handlers are destroyed, too, and never called.
    ~asio_driver();
    asio_driver(const asio_driver&) = delete;
    asio_driver& operator=(const asio_driver&) = delete;

    MADSchedule& schedule() noexcept;
    boost::asio::any_io_executor get_executor() const noexcept;

    /// Looks at the schedule soon. For handlers of other things that cancelled or queued something themselves: a driver
    /// that waits for the transport or a deadline cannot see that.
    void wake();

    /// One more thing to wait for: moves the schedule until finished().
    void started(detail::driven&);
    void finished(detail::driven&);
    /// Expires with the driver, and so with all that it drives.
    std::weak_ptr<void> watch() const noexcept;

private:
    struct impl;
    std::shared_ptr<impl> impl_;
};

namespace detail {

/// A handler's executor, kept going: executor_work_guard does not know strands of an any_io_executor.
template <class Handler> auto working_executor(const Handler& h, const boost::asio::any_io_executor& otherwise) {
    return boost::asio::prefer(boost::asio::get_associated_executor(h, otherwise),
                               boost::asio::execution::outstanding_work.tracked);
}
template <class Handler>
using working_executor_of =
    decltype(working_executor(std::declval<const Handler&>(), std::declval<const boost::asio::any_io_executor&>()));

template <class T> struct completion_signature {
    using type = void(T);
};
template <> struct completion_signature<void> {
    using type = void();
};

// What one async_run keeps: the handler, the cancellation domain, and the running task last, so that it ends first.
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

    // The frame that calls these still stands: hand over to Asio, which destroys the operation from outside of it.
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
        if (slot.is_connected()) slot.clear(); // whoever holds the signal may still emit it
        Handler h = std::move(handler);
        driver.finished(*this);
        allocator a = allocator_of(h);
        std::destroy_at(this);
        a.deallocate(this, 1);
        return h;
    }
};

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

/// Runs `t` on the driver's schedule and completes `token` with its value: signature void(T), or void() for task<void>.
/// `co_await async_run(driver, discover(...), asio::use_awaitable)`; `asio::use_future`; a callback.
/// Errors:  fabric failures are in the value (mad::result). What a task throws leaves io_context::run, as from a handler;
///          the token is then not completed.
/// Cancel:  the token's cancellation slot cancels what the task waits for; the task still ends and completes the token.
/// Lifetime: the driver must outlive the operation.
template <class T, class Token> auto async_run(asio_driver& driver, task<T> t, Token&& token) {
    return boost::asio::async_initiate<Token, typename detail::completion_signature<T>::type>(
        detail::initiate_run{}, token, &driver, std::move(t));
}

namespace detail {
template <class T>
task<mad::result<T>> subn_get(MADSchedule& schedule, mad::any_path path, u32 attributeModifier, rpc_options options) {
    co_return co_await schedule.SubnGet<T>(path, attributeModifier, options);
}
} // namespace detail

/// One SubnGet as an Asio operation: completes `token` with mad::result<T>.
template <iba::attribute T, class Token>
auto async_SubnGet(asio_driver& driver, const mad::any_path& path, u32 attributeModifier, rpc_options options,
                   Token&& token) {
    return async_run(driver, detail::subn_get<T>(driver.schedule(), path, attributeModifier, options),
                     std::forward<Token>(token));
}

} // namespace comad::coro
