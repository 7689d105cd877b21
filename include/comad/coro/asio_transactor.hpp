// SPDX-License-Identifier: MIT
// asio_transactor.hpp - every RPC and any task as an Asio operation, begun in any thread, with any completion token. Knows of
// the RPCs only that rpcs.hpp makes them.
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

struct no_payload {};

/// One RPC that is still to be made: all that rpc_request refers to, as values. Payload: no_payload for zeros.
template <class Payload> struct stored_request {
    const mad::rpc_kind* kind;
    mad::any_path path;
    u32 attributeModifier;
    u64 component_mask;
    rpc_options options;
    Payload payload;
    bool to_sa; ///< the path is the schedule's sa_path(), which only its own thread may read
};

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

template <class Record, bool Header, class Request>
task<mad::result<typename table_rpc<Request, Record, Header>::value_type>> make_table(MADSchedule& schedule,
                                                                                      stored_request<Request> r) {
    const mad::any_path path = r.to_sa ? mad::any_path(schedule.sa_path()) : r.path;
    const rpc_request request{*r.kind, path, r.attributeModifier, r.component_mask, r.options};
    auto result = co_await schedule.template call_table<Request, Record, Header>(request, r.payload);
    co_return std::move(result);
}

/// What begins a task<Value> in the schedule's thread.
template <class T, bool Header, class Payload> struct make_rpc {
    using value = mad::result<typename rpc<T, Header>::value_type>;
    stored_request<Payload> request;
    task<value> operator()(MADSchedule& s) && { return make<T, Header>(s, std::move(request)); }
};
template <class Record, bool Header, class Request> struct make_table_rpc {
    using value = mad::result<typename table_rpc<Request, Record, Header>::value_type>;
    stored_request<Request> request;
    task<value> operator()(MADSchedule& s) && { return make_table<Record, Header>(s, std::move(request)); }
};

/// The RPCs of rpcs.hpp, of which each gives a request that is still to be made. Lives for one of them.
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

/// How a task ended.
template <class T> struct task_end {
    std::exception_ptr thrown;
    std::optional<T> value;
};
template <> struct task_end<void> {
    std::exception_ptr thrown;
};
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
template <class T> struct run_caught {
    using value = task_end<T>;
    task<T> wanted;
    task<value> operator()(MADSchedule&) && { return caught(std::move(wanted)); }
};

/// What stands beside an exception, where nobody looks.
template <class T> T no_value() {
    if constexpr (std::is_default_constructible_v<T>) {
        return T();
    } else {
        mad::mad_error none;
        none.code = mad::errc::cancelled;
        return T(std::move(none));
    }
}

template <class Handler, class Value> void hand_over(Handler& handler, Value& value) {
    std::move(handler)(std::move(value));
}
template <class Handler, class T> void hand_over(Handler& handler, task_end<T>& end) {
    if constexpr (std::is_void_v<T>) std::move(handler)(end.thrown);
    else if (end.thrown) std::move(handler)(end.thrown, no_value<T>());
    else std::move(handler)(std::exception_ptr(), std::move(*end.value));
}

/// Takes a value in the schedule's executor to a handler, in the handler's. Never from inside: the schedule has more to do.
template <class Handler> struct forward_completion {
    Handler handler;
    working_executor_of<Handler> home;
    std::shared_ptr<boost::asio::cancellation_signal> signal; // whose slot the operation has
    template <class Value> void operator()(Value value) {
        const auto to = home;
        boost::asio::post(
            to, [h = std::move(handler), w = std::move(home), v = std::move(value)]() mutable { hand_over(h, v); });
    }
};

/// Begins, in the schedule's executor, what was initiated anywhere.
struct initiate_there {
    template <class Handler, class Begin> void operator()(Handler&& handler, asio_driver* driver, Begin begin) const {
        using home = forward_completion<std::decay_t<Handler>>;
        const boost::asio::any_io_executor there = driver->get_executor();
        auto signal = std::make_shared<boost::asio::cancellation_signal>();
        auto slot = boost::asio::get_associated_cancellation_slot(handler);
        if (slot.is_connected()) {
            // Posted, so that it comes behind the beginning. The slot may be asked long after the end.
            slot.assign([watched = std::weak_ptr(signal), there](boost::asio::cancellation_type type) {
                auto held = watched.lock();
                if (held) boost::asio::post(there, [s = std::move(held), type] { s->emit(type); });
            });
        }
        auto to = working_executor(handler, there);
        boost::asio::dispatch(there, [driver, alive = driver->watch(), b = std::move(begin),
                                      h = home{std::forward<Handler>(handler), std::move(to), signal}]() mutable {
            if (alive.expired()) return; // as what the driver's end finds unfinished
            const auto slot_there = h.signal->slot();
            initiate_run{}(boost::asio::bind_cancellation_slot(slot_there, std::move(h)), driver,
                           std::move(b)(driver->schedule()));
        });
    }
};

template <class T> struct end_signature {
    using type = void(std::exception_ptr, T);
};
template <> struct end_signature<void> {
    using type = void(std::exception_ptr);
};

} // namespace detail

/// A schedule for an Asio program of any number of threads: every RPC of rpcs.hpp as `async_` and its name, and any task.
///
///     asio_transactor mads(io.get_executor(), device);
///     auto info = co_await mads.async_SubnGet<PortInfo>(path, 1);                          // in an asio::awaitable
///     mads.async_SubnGet<NodeInfo>(path, [](mad::result<NodeInfo> info) { ... });          // or any other token
///
/// RPCs:      arguments as in rpcs.hpp, named ones instead of braces, then a completion token; without one the operation is
///            asio::deferred, which an asio::awaitable awaits. All arguments are copied.
/// Signature: void(mad::result<T>). An error_code beside a T would lose what a mad_error knows: path, attribute, attempts,
///            status, the MADs; and there would be a T where there is none. co_await and futures give the result, and throw
///            nothing.
/// Executor:  the handler is called in its associated executor, else in get_executor(); never from inside the initiation.
/// Cancel:    any type of cancellation cancels the MAD; the handler is called all the same, once, with errc::cancelled, or with
///            the answer if that was faster. A later reply is counted as stale. As with all of Asio, a signal is emitted where
///            the handler's executor runs or otherwise not at the same time as it is connected; its slot keeps nothing alive.
/// Threads:   initiations from any thread. schedule() and driver() only in get_executor().
/// Lifetime:  the transport and the io_context outlive it. It is destroyed in get_executor(), or while nothing runs there, and
///            nothing is initiated then; unfinished operations are destroyed with it, their handlers not called.
class asio_transactor {
public:
    using executor_type = boost::asio::any_io_executor;

    /// Has a schedule of its own over `t`, in a strand of `io`. Throws what MADSchedule and asio_driver throw.
    asio_transactor(const boost::asio::any_io_executor& io, mad::transport& t, schedule_options options = {})
        : own_(std::make_unique<own>(boost::asio::make_strand(io), t, options)), driver_(own_->driver) {}
    /// On a driver that lives elsewhere, and longer. Its executor must be a strand if several threads run the io_context.
    explicit asio_transactor(asio_driver& driver) noexcept : driver_(driver) {}
    asio_transactor(const asio_transactor&) = delete;
    asio_transactor& operator=(const asio_transactor&) = delete;

    executor_type get_executor() const noexcept { return driver_.get_executor(); }
    asio_driver& driver() noexcept { return driver_; }
    MADSchedule& schedule() noexcept { return driver_.schedule(); }

    /// Runs a task on the schedule: signature void(std::exception_ptr, T), or void(std::exception_ptr) for task<void>. What
    /// the task throws is thrown where it is awaited, as by asio::co_spawn; T is then T(), or a mad::result of no meaning.
    /// Without a token it gives an asio::awaitable<T>: Boost 1.81 cannot await a deferred operation with this signature.
    /// Cancel: what the task waits for is cancelled; it still ends, and its value counts.
    /// The task's frame must not have begun; it is destroyed in get_executor().
    template <class T, class Token = boost::asio::use_awaitable_t<>> auto async_run(task<T> t, Token token = {}) {
        return boost::asio::async_initiate<Token, typename detail::end_signature<T>::type>(
            detail::initiate_there{}, token, &driver_, detail::run_caught<T>{std::move(t)});
    }

// One name of rpcs.hpp with whatever template arguments it has there: none but deduced ones; a type and values; values.
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

    // The last argument is the token, unless the RPC takes all of them.
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

    std::unique_ptr<own> own_; // null: the driver lives elsewhere
    asio_driver& driver_;
};

} // namespace comad::coro
