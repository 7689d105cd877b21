// SPDX-License-Identifier: MIT
// asio_transactor.hpp - asio_transactor: every RPC and any task as an Asio operation with any completion token, started from any thread.
#pragma once
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/rpcs.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace comad::coro {

namespace detail {

/// Stands for a payload of zeros.
struct no_payload {};

/// A stored RPC request: copies of everything that rpc_request refers to. A Payload of no_payload stands for zeros.
template <class Payload> struct stored_request {
    const mad::rpc_kind* kind;
    mad::any_path path;
    u32 attributeModifier;
    u64 component_mask;
    rpc_options options;
    Payload payload;
    bool to_sa; ///< true: send to the schedule's sa_path(), which only the schedule's thread may read
};

/// Makes the stored RPC on a schedule.
template <class T, bool Header, class Payload>
task<mad::result<typename rpc<T, Header>::value_type>> make(MADSchedule& schedule, stored_request<Payload> r) {
    const mad::any_path path = r.to_sa ? mad::any_path(schedule.sa_path()) : r.path;
    const rpc_request request{*r.kind, path, r.attributeModifier, r.component_mask, r.options};
    if constexpr (std::is_same_v<Payload, no_payload>) {
        auto result = co_await schedule.template call<T, Header>(request);
        co_return std::move(result);
    } else {
        auto result = co_await schedule.template call<T, Header>(request, r.payload);
        co_return std::move(result);
    }
}

/// Sends the stored RPC for a table through a schedule.
template <class Record, bool Header, class Request>
task<mad::result<typename table_rpc<Request, Record, Header>::value_type>> make_table(MADSchedule& schedule,
                                                                                      stored_request<Request> r) {
    const mad::any_path path = r.to_sa ? mad::any_path(schedule.sa_path()) : r.path;
    const rpc_request request{*r.kind, path, r.attributeModifier, r.component_mask, r.options};
    auto result = co_await schedule.template call_table<Request, Record, Header>(request, r.payload);
    co_return std::move(result);
}

/// Creates the task of a stored RPC in the schedule's thread.
template <class T, bool Header, class Payload> struct make_rpc {
    using value = mad::result<typename rpc<T, Header>::value_type>;
    stored_request<Payload> request;
    task<value> operator()(MADSchedule& s) && { return make<T, Header>(s, std::move(request)); }
};
/// Creates the task of a stored table RPC in the schedule's thread.
template <class Record, bool Header, class Request> struct make_table_rpc {
    using value = mad::result<typename table_rpc<Request, Record, Header>::value_type>;
    stored_request<Request> request;
    task<value> operator()(MADSchedule& s) && { return make_table<Record, Header>(s, std::move(request)); }
};

/// The RPCs of rpcs.hpp, each of which returns a stored request instead of sending it. Use one object per RPC.
class rpc_requests : public rpcs<rpc_requests> {
public:
    const mad::IBPath& sa_path() noexcept {
        to_sa_ = true;
        return nowhere_;
    }
    template <iba::wire T, bool Header> make_rpc<T, Header, no_payload> call(const rpc_request& r) {
        return {stored(r, no_payload{})};
    }
    template <iba::wire T, bool Header> make_rpc<T, Header, T> call(const rpc_request& r, const T& payload) {
        return {stored(r, payload)};
    }
    template <iba::wire Request, iba::wire Record, bool Header>
    make_table_rpc<Record, Header, Request> call_table(const rpc_request& r, const Request& payload) {
        return {stored(r, payload)};
    }

private:
    template <class Payload> stored_request<Payload> stored(const rpc_request& r, const Payload& payload) const {
        return {&r.kind, r.path, r.attributeModifier, r.component_mask, r.options, payload, to_sa_};
    }
    mad::IBPath nowhere_{};
    bool to_sa_ = false;
};

/// The end of a task: its value or the exception that it threw.
template <class T> struct task_end {
    std::exception_ptr thrown;
    std::optional<T> value;
};
template <> struct task_end<void> {
    std::exception_ptr thrown;
};
/// Runs `t` and returns its value or exception.
template <class T> task<task_end<T>> caught(task<T> t) {
    task_end<T> end;
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(t);
        } else {
            T value = co_await std::move(t);
            end.value.emplace(std::move(value));
        }
    } catch (...) {
        end.thrown = std::current_exception();
    }
    co_return std::move(end);
}
/// Creates a task in the schedule's thread that catches the exception of another task.
template <class T> struct run_caught {
    using value = task_end<T>;
    task<T> wanted;
    task<value> operator()(MADSchedule&) && { return caught(std::move(wanted)); }
};

/// Returns a placeholder value that accompanies an exception. The caller does not read it.
template <class T> T no_value() {
    if constexpr (std::is_default_constructible_v<T>) {
        return T();
    } else {
        mad::mad_error none;
        none.code = mad::errc::cancelled;
        return T(std::move(none));
    }
}

/// Calls a handler with a value, or with the exception and value of a task.
template <class Handler, class Value> void hand_over(Handler& handler, Value& value) {
    std::move(handler)(std::move(value));
}
template <class Handler, class T> void hand_over(Handler& handler, task_end<T>& end) {
    if constexpr (std::is_void_v<T>) std::move(handler)(end.thrown);
    else if (end.thrown) std::move(handler)(end.thrown, no_value<T>());
    else std::move(handler)(std::exception_ptr(), std::move(*end.value));
}

/// Passes a value from the schedule's executor to a handler, in the handler's executor. It never calls the handler
/// directly, because the schedule has more work to do.
template <class Handler> struct forward_completion {
    Handler handler;
    working_executor_of<Handler> home;
    std::shared_ptr<boost::asio::cancellation_signal> signal; // the operation uses the slot of this signal
    template <class Value> void operator()(Value value) {
        const auto to = home;
        boost::asio::post(
            to, [h = std::move(handler), w = std::move(home), v = std::move(value)]() mutable { hand_over(h, v); });
    }
};

/// Starts an operation in the schedule's executor; the caller can be in any thread.
struct initiate_there {
    template <class Handler, class Begin> void operator()(Handler&& handler, asio_driver* driver, Begin begin) const {
        using home = forward_completion<std::decay_t<Handler>>;
        const boost::asio::any_io_executor there = driver->get_executor();
        auto signal = std::make_shared<boost::asio::cancellation_signal>();
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) {
            // The signal is posted, so that it arrives after the start. The slot can be emitted long after the
            // operation ends.
            slot.assign([watched = std::weak_ptr(signal), there](boost::asio::cancellation_type type) {
                auto held = watched.lock();
                if (held) boost::asio::post(there, [s = std::move(held), type] { s->emit(type); });
            });
        }
        auto to = working_executor(handler, there);
        boost::asio::dispatch(there, [driver, alive = driver->watch(), b = std::move(begin),
                                      h = home{std::forward<Handler>(handler), std::move(to), signal}]() mutable {
            if (alive.expired()) return; // the handler is destroyed, not called
            const auto slot_there = h.signal->slot();
            initiate_run{}(boost::asio::bind_cancellation_slot(slot_there, std::move(h)), driver,
                           std::move(b)(driver->schedule()));
        });
    }
};

/// The completion signature of asio_transactor::async_run() for a task<T>.
template <class T> struct end_signature {
    using type = void(std::exception_ptr, T);
};
template <> struct end_signature<void> {
    using type = void(std::exception_ptr);
};

} // namespace detail

/// A schedule for Asio programs with any number of threads. It offers every RPC of rpcs.hpp with the prefix `async_`,
/// and runs any task.
///
///     asio_transactor mads(io.get_executor(), device);
///     auto info = co_await mads.async_SubnGet<PortInfo>(path, 1);                          // in an asio::awaitable
///     mads.async_SubnGet<NodeInfo>(path, [](mad::result<NodeInfo> info) { ... });          // or any other token
///
/// RPCs:      the arguments of rpcs.hpp, followed by a completion token. Use named arguments instead of
///            braces. Without a token, the operation is asio::deferred, which an asio::awaitable can await. All
///            arguments are copied.
/// Signature: void(mad::result<T>). A signature with an error_code and a T would lose the contents of mad_error:
///            path, attribute, attempts, status and MADs. It would also need a T for failures. co_await and futures
///            return the result and do not throw.
/// Executor:  the handler runs in its associated executor, or in get_executor() if it has none. The initiating
///            function never calls it.
/// Cancel:    every cancellation type cancels the MAD. The handler is still called once, with `errc::cancelled`, or
///            with the reply if the reply arrived first. A later reply is counted as stale. As in Asio, emit a signal
///            in the handler's executor, or at least not while the signal is being connected. Its slot keeps nothing
///            alive.
/// Threads:   start operations from any thread. Use schedule() and driver() only in get_executor().
/// Lifetime:  the transport and the io_context must outlive the transactor. Destroy it in get_executor(), or while
///            nothing runs there, and start no operation meanwhile. Unfinished operations are destroyed with it;
///            their handlers are not called.
class asio_transactor {
public:
    using executor_type = boost::asio::any_io_executor;

    /// Creates a schedule over `t`, in a strand of `io`. Throws what MADSchedule and asio_driver throw.
    asio_transactor(const boost::asio::any_io_executor& io, mad::transport& t, schedule_options options = {})
        : own_(std::make_unique<own>(boost::asio::make_strand(io), t, options)), driver_(own_->driver) {}
    /// Uses an existing driver, which must outlive the transactor. Its executor must be a strand if several threads
    /// run the io_context.
    explicit asio_transactor(asio_driver& driver) noexcept : driver_(driver) {}
    asio_transactor(const asio_transactor&) = delete;
    asio_transactor& operator=(const asio_transactor&) = delete;

    executor_type get_executor() const noexcept { return driver_.get_executor(); }
    asio_driver& driver() noexcept { return driver_; }
    MADSchedule& schedule() noexcept { return driver_.schedule(); }

    /// Runs a task on the schedule. The signature is void(std::exception_ptr, T), or void(std::exception_ptr) for a
    /// task<void>. If the task throws, a coroutine that awaits the operation gets the exception, as with
    /// asio::co_spawn. The T is then T(), or a meaningless mad::result.
    /// Without a token, it returns an asio::awaitable<T>: Boost 1.81 cannot await a deferred operation with this
    /// signature.
    /// Cancel:   cancels the operations that the task waits for. The task still ends and returns its value.
    /// Lifetime: the task must not have started. Its frame is destroyed in get_executor().
    template <class T, class Token = boost::asio::use_awaitable_t<>> auto async_run(task<T> t, Token token = {}) {
        return boost::asio::async_initiate<Token, typename detail::end_signature<T>::type>(
            detail::initiate_there{}, token, &driver_, detail::run_caught<T>{std::move(t)});
    }

// The first overload takes RPCs with type arguments, or only deduced ones; the second takes one type and values.
#define COMAD_ASYNC_RPC(NAME)                                                                                          \
    template <class... T, class... Args> auto async_##NAME(Args&&... args) {                                           \
        return initiate([](detail::rpc_requests& r, auto&&... a) -> decltype(r.template NAME<T...>(                    \
                                                                     a...)) { return r.template NAME<T...>(a...); },   \
                        args...);                                                                                      \
    }                                                                                                                  \
    template <class T, auto... V, class... Args>                                                                       \
        requires(sizeof...(V) > 0)                                                                                     \
    auto async_##NAME(Args&&... args) {                                                                                \
        return initiate(                                                                                               \
            [](detail::rpc_requests& r, auto&&... a) -> decltype(r.template NAME<T, V...>(a...)) {                     \
                return r.template NAME<T, V...>(a...);                                                                 \
            },                                                                                                         \
            args...);                                                                                                  \
    }
#define COMAD_ASYNC_RPC_OF_ONE_TYPE(NAME)                                                                              \
    template <bool Header = false, class... Args> auto async_##NAME(Args&&... args) {                                  \
        return initiate([](detail::rpc_requests& r, auto&&... a) -> decltype(r.template NAME<Header>(                  \
                                                                     a...)) { return r.template NAME<Header>(a...); }, \
                        args...);                                                                                      \
    }
    COMAD_ASYNC_RPC(SubnGet)
    COMAD_ASYNC_RPC(SubnSet)
    COMAD_ASYNC_RPC(PerformanceGet)
    COMAD_ASYNC_RPC(PerformanceSet)
    COMAD_ASYNC_RPC(SubnAdmGet)
    COMAD_ASYNC_RPC(SubnAdmGetTable)
    COMAD_ASYNC_RPC(SubnAdmSet)
    COMAD_ASYNC_RPC(SubnAdmDelete)
    COMAD_ASYNC_RPC_OF_ONE_TYPE(SubnAdmGetMulti)
    COMAD_ASYNC_RPC_OF_ONE_TYPE(SubnAdmGetTraceTable)
    COMAD_ASYNC_RPC(VendGet)
    COMAD_ASYNC_RPC(VendSet)
    COMAD_ASYNC_RPC(BMGet)
    COMAD_ASYNC_RPC(BMSet)
    COMAD_ASYNC_RPC(DevMgtGet)
    COMAD_ASYNC_RPC(DevMgtSet)
    COMAD_ASYNC_RPC(SNMPGet)
    COMAD_ASYNC_RPC(SNMPSend)
    COMAD_ASYNC_RPC(CommMgtGet)
    COMAD_ASYNC_RPC(CommMgtSet)
    COMAD_ASYNC_RPC(CommMgtSend)
    COMAD_ASYNC_RPC(CongestionControlGet)
    COMAD_ASYNC_RPC(CongestionControlSet)
    COMAD_ASYNC_RPC(Trap)
    COMAD_ASYNC_RPC(TrapRepress)
    COMAD_ASYNC_RPC_OF_ONE_TYPE(Report)
#undef COMAD_ASYNC_RPC
#undef COMAD_ASYNC_RPC_OF_ONE_TYPE

private:
    struct own {
        own(const boost::asio::any_io_executor& in, mad::transport& t, const schedule_options& options)
            : schedule(t, options), driver(in, schedule) {}
        MADSchedule schedule;
        asio_driver driver;
    };

    // The last argument is the token, unless the RPC accepts all arguments.
    template <class Make, class... Args> auto initiate(const Make& make, Args&... args) {
        detail::rpc_requests requests;
        if constexpr (std::is_invocable_v<const Make&, detail::rpc_requests&, Args&...>) {
            return complete(make(requests, args...), boost::asio::deferred);
        } else {
            static_assert(sizeof...(Args) > 0, "an RPC needs a path");
            return split(make, std::tie(args...), std::make_index_sequence<sizeof...(Args) - 1>{});
        }
    }
    template <class Make, class... Args, std::size_t... I>
    auto split(const Make& make, std::tuple<Args&...> args, std::index_sequence<I...>) {
        using all = std::tuple<Args&...>;
        static_assert(std::is_invocable_v<const Make&, detail::rpc_requests&, std::tuple_element_t<I, all>...>,
                      "the IBA has no such RPC, or these are not its arguments and a completion token");
        detail::rpc_requests requests;
        return complete(make(requests, std::get<I>(args)...), std::move(std::get<sizeof...(I)>(args)));
    }
    template <class Begin, class Token> auto complete(Begin begin, Token token) {
        return boost::asio::async_initiate<Token, void(typename Begin::value)>(detail::initiate_there{}, token,
                                                                               &driver_, std::move(begin));
    }

    std::unique_ptr<own> own_; // null: the driver is owned elsewhere
    asio_driver& driver_;
};

} // namespace comad::coro
