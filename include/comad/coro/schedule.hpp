// SPDX-License-Identifier: MIT
// schedule.hpp - MADSchedule: awaitable RPCs over one transport, with at most max_outstanding MADs in flight.
// It depends on neither Asio nor a clock; a driver (driver.hpp, asio.hpp) drives it.
#pragma once
#include <comad/coro/detail/pause.hpp>
#include <comad/coro/detail/rpc.hpp>
#include <comad/coro/detail/rpcs.hpp>
#include <comad/coro/mqueue.hpp>
#include <comad/coro/scope.hpp>
#include <comad/iba/detail/attribute.hpp>
#include <comad/mad/detail/engine_counters.hpp>
#include <comad/mad/detail/patience.hpp>
#include <comad/mad/trace.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace comad::mad {
class engine;
namespace detail {
class peer_cache;
}
} // namespace comad::mad

namespace comad::coro {

/// The options of a MADSchedule: limits of requests in flight, timeouts and retries.
struct schedule_options {
    /// The largest number of MADs in flight, 1..65536; the transport may lower it. 0: as many as the fabric carries
    /// without queueing (docs/explanation/adaptive-retries.md), at most engine_options::most_adaptive.
    unsigned max_outstanding = 0;
    /// The largest number of SMPs in flight to one destination as addressed; 0: no limit. A node must buffer only one
    /// VL15 packet, and an SMA processes requests one after the other.
    unsigned per_destination = 1;
    /// The largest number of GMPs of one class in flight to one destination; 0: no limit. An agent processes requests
    /// one after the other. Without a limit, the ports of one switch would fill the window.
    u16 gmps_per_destination = 4;
    /// The timeout of each attempt of every RPC. 0: Gets and Sets, except those to the SA, follow the measured
    /// round-trip times (mad::rtt_estimator); all other requests use unmeasured_timeout.
    /// docs/explanation/adaptive-retries.md has a table of the timeouts.
    mad::duration timeout{0};
    /// The timeout of each attempt of requests without a typical response time: requests to the SA, tables and
    /// Reports. It also limits the wait for the reply to a Set. 0: the timeout of the path (mad_timeout() in
    /// path.hpp), 6.4 s by default.
    mad::duration unmeasured_timeout{0};
    /// The retries of requests with a timeout, 0..255. -1: set_retries for Sets that follow the measured round-trip
    /// times, usual_retries for all others.
    int retries = -1;
    static constexpr u8 usual_retries = 2, set_retries = 6;
    u8 busy_retries = 5; ///< retries after BUSY replies; the back-off grows with each retry, up to the timeout
    /// The largest number of requests to the SA in flight. It includes canceled requests without a reply so far. 0:
    /// as many as the transport sends at once (sa_window).
    u16 sa_outstanding = 0;
    u32 seed = 1;                     ///< start value of transaction IDs
    unsigned max_rate = 0;            ///< MADs per second, including retries; 0: no limit
    bool polite = false;              ///< limits an adaptive window to that of a subnet manager, 4 MADs
    mad::patience_options patience{}; ///< time limit of Gets without a timeout
};

/// The largest number of messages that a driver handles before it reads the clock again. It limits the difference between
/// the schedule's time and the clock.
inline constexpr unsigned burst = 64;

/// Resolves paths for a schedule: to a GID, and to an SA that has moved.
class path_resolver {
public:
    /// Returns the path to the DGID of `to`. Fields that the resolver does not learn keep their values in `to`.
    virtual task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to) = 0;
    /// Called if the SA at the LID `queried_sa` rejected a request or did not reply. Returns the path for one more
    /// attempt. Returns nullopt if the SA has not moved. A new master subnet manager runs at another port (IBA 14.4).
    virtual task<std::optional<mad::IBPath>> find_sa(iba::lid /*queried_sa*/) { co_return std::nullopt; }

protected:
    ~path_resolver() = default;
};

/// Runs coroutines over one transport.
/// Lifetime: tasks, jobs and scopes of the schedule must end before it is destroyed.
/// Threads:  one. Everything, including the tasks, runs in the thread that drives the schedule. Several schedules can
///           run in several threads.
class MADSchedule : public rpcs<MADSchedule> {
public:
    /// Creates a schedule. `t` must outlive it. Throws std::invalid_argument if the window is not in 1..65536.
    explicit MADSchedule(mad::transport& t, schedule_options = {});
    ~MADSchedule();
    MADSchedule(const MADSchedule&) = delete;
    MADSchedule& operator=(const MADSchedule&) = delete;

    // ---- RPCs: `auto info = co_await sched.SubnGet<PortInfo>(path, port);` (rpcs.hpp) ------------------------------
    // Cancel:   a canceled request that waits for space in the window is never sent. A canceled request in flight
    //           stays in the window until its reply arrives or it is lost; the reply is counted as stale.
    // Lifetime: await an RPC once, in the expression that creates it or from a named local variable.

    /// The interface that rpcs.hpp requires.
    template <iba::wire T, bool Header> rpc<T, Header> call(const rpc_request& request) noexcept {
        return {*this, request};
    }
    template <iba::wire T, bool Header> rpc<T, Header> call(const rpc_request& request, const T& payload) noexcept {
        return {*this, request, payload};
    }
    template <iba::wire Request, iba::wire Record, bool Header>
    table_rpc<Request, Record, Header> call_table(const rpc_request& request, const Request& payload) noexcept {
        return {*this, request, payload};
    }
    /// Makes an RPC whose class, method and attribute are known only at run time.
    raw_rpc call_raw(const rpc_request& request, std::span<const u8, mad::mad_size> mad,
                     reply_size size = reply_size::of_method) noexcept {
        return {*this, request, mad, size};
    }

    /// Returns the path to the SA that set_sa_path() set (sa::client calls it). Before that, the DLID is 0.
    const mad::IBPath& sa_path() const noexcept { return sa_path_; }
    /// Sets the path to the SA.
    void set_sa_path(const mad::IBPath& path) noexcept { sa_path_ = path; }

    /// Returns true if `source` is the SA: it has the LID and QP of sa_path(), or of the target to which the SA
    /// redirected requests (IBA 13.5.2). Use it for unsolicited MADs such as Reports. Returns false if the transport
    /// does not report the source LID (0).
    bool is_sa(const mad::source_address& source) const noexcept;

    /// Sets the resolver for redirects to a GID without a LID, and for an SA that no longer replies. sa::client sets
    /// itself. Null: both cases are errors.
    /// Lifetime: the resolver must outlive the schedule, or be reset to null first.
    void set_path_resolver(path_resolver* resolver) noexcept { path_resolver_ = resolver; }

    /// Sets the sink that is notified of every MAD; null: none.
    /// Lifetime: the sink must outlive the schedule, or be reset to null first.
    void set_trace(mad::trace_sink* sink) noexcept;

    /// Sets the server that gets incoming requests (server/agent.hpp); null: they are counted as stale. A schedule
    /// with a server is never idle.
    /// Lifetime: the server must outlive the schedule, or be reset to null first.
    void set_server(mad::request_sink* server) noexcept { server_ = server; }

    // ---- tasks --------------------------------------------------------------------------------------------------------

    /// Starts `t` at once. `co_await` the job for its result.
    template <class T> job<T> queue(task<T> t) { return job<T>::start(std::move(t), root_); }
    /// Runs the tasks that `tasks` yields in parallel and returns when all have ended. It pulls the next task only
    /// while the window has space and fewer than mqueue_options::max_tasks tasks are alive. Tasks return void or a
    /// mad::result; the report counts the errors. If the generator has nothing to start at the moment, it yields an
    /// empty task. The schedule then pulls again later.
    /// Nested calls cannot deadlock, because a task that awaits an inner mqueue takes no space in the window.
    template <class T> mqueue_awaiter<T> mqueue(generator<task<T>> tasks, mqueue_options options = {}) {
        return {*this, std::move(tasks), options};
    }
    /// Waits for `length`. Returns true when the time has passed, and false if the wait was canceled first. As for
    /// timeouts, the time counts from the driver's next reading of the clock. duration::max() waits forever.
    pause_awaiter pause(mad::duration length) noexcept { return {pauses_, length}; }
    /// Waits until the schedule's clock (now()) reaches `end`. Returns as pause() does, immediately if `end` has
    /// passed.
    pause_awaiter pause_until(mad::time_point end) noexcept { return {pauses_, end}; }
    /// Returns the outermost cancellation domain.
    scope_state& root() noexcept { return root_; }

    /// Returns the counters of requests, replies and losses.
    const mad::engine_counters& counters() const noexcept;
    /// Returns the number of MADs in flight.
    unsigned in_flight() const noexcept;
    /// Returns the present limit of MADs in flight.
    unsigned window() const noexcept;
    /// Returns the options of the schedule.
    const schedule_options& options() const noexcept { return options_; }

    // ---- for drivers --------------------------------------------------------------------------------------------------

    /// Returns the transport of the schedule.
    mad::transport& transport() noexcept { return transport_; }
    const mad::transport& transport() const noexcept { return transport_; }
    /// Returns the time that the driver set last.
    mad::time_point now() const noexcept;
    /// Sets the clock that set_now() follows, if that clock runs by itself. The schedule measures round-trip times
    /// with it. Drivers call this function.
    void use_clock(mad::clock_reading clock) noexcept;
    /// Sets the present time.
    void set_now(mad::time_point now) noexcept;
    /// Does all work that is due at now(): reads messages, expires requests if there is no more to read, and settles.
    /// Returns true if more work remains. It is for drivers that do nothing between these steps.
    bool turn() noexcept;
    /// Expires requests that are due at now(), and ends pauses. Precondition: messages that have arrived have been
    /// read.
    void on_time() noexcept;
    /// Returns the earliest time at which a request expires, a pause ends or the transport has an event.
    /// Precondition: set_now() was called after the last RPC or pause started.
    mad::time_point next_deadline() const noexcept;
    /// Reads and handles at most `max` messages. Returns true if it stopped at `max`, so that more messages may
    /// remain.
    bool receive(unsigned max) noexcept;
    /// Does the work that needs no message: ends rejected and canceled operations, retries blocked sends and pulls
    /// tasks from sources. Returns true if more of this work remains.
    bool settle() noexcept;
    /// Returns true if the transport has failed and no more messages will arrive.
    bool transport_failed() const noexcept { return transport_failed_; }
    /// Returns true if no task can make progress: no operation that a task awaits is pending. A task that is not done
    /// then never will be. The only exception is a task that waits for space in the window that a canceled request
    /// still occupies (in_flight()).
    bool idle() const noexcept;

private:
    friend class detail::rpc_base;
    friend class event;
    template <class T> friend class mqueue_awaiter;

    unsigned receive_batch(unsigned wanted) noexcept;
    void pull() noexcept;
    void end_cancelled_sources() noexcept;
    void add_source(detail::task_source&) noexcept;
    void remove_source(detail::task_source&) noexcept;

    static constexpr unsigned batch = 16;
    struct incoming {
        mad::received message;
        std::array<u8, 384> bytes; // the start of a longer message
    };
    bool receive_long(incoming&);
    void handle(const mad::received&) noexcept;

    mad::transport& transport_;
    schedule_options options_;
    const std::unique_ptr<mad::engine> engine_; // its parts do not belong to the ABI
    mad::request_sink* server_ = nullptr;
    detail::pauses pauses_;
    scope_state root_{nullptr};
    detail::task_source* newest_ = nullptr;
    bool source_cancelled_ = false; // at least one source was canceled and must be removed
    bool transport_failed_ = false;
    mad::clock_reading clock_ = nullptr;
    unsigned to_read_ = 0; // messages to read before requests that are due expire
    std::array<incoming, batch> inbox_;
    std::vector<u8> long_message_;
    mad::IBPath sa_path_;
    path_resolver* path_resolver_ = nullptr;
    const std::unique_ptr<mad::detail::peer_cache> peer_cache_;
};

template <class T>
template <class Awaiting>
void mqueue_awaiter<T>::await_suspend(std::coroutine_handle<Awaiting> awaiting) {
    awaiting_ = awaiting;
    scope_.emplace(awaiting.promise().scope);
    joined_ = true;
    schedule_.add_source(*this);
    link(&*scope_);
    if (scope_->cancelled()) cancel();
}

template <class T> void mqueue_awaiter<T>::cancel() noexcept { schedule_.source_cancelled_ = true; }

template <class T> void mqueue_awaiter<T>::leave() noexcept {
    if (!std::exchange(joined_, false)) return;
    schedule_.remove_source(*this);
    unlink();
}

template <class T> detail::task_source::pulled mqueue_awaiter<T>::pull() noexcept {
    task<T>* next = nullptr;
    if (children_.live() >= options_.max_tasks && !scope_->cancelled()) return pulled::idle;
    if (scope_->cancelled()) {
        report_.stopped = true;
    } else {
        try {
            next = tasks_.next();
        } catch (...) {
            exception_ = std::current_exception();
            stop();
        }
    }
    if (next && !*next) return pulled::idle;
    if (next) {
        children_.start(std::move(*next), *this, *scope_);
        return pulled::started;
    }
    leave();
    exhausted_ = true;
    if (children_.live() == 0) awaiting_.resume(); // resume() may destroy this object
    return pulled::exhausted;
}

} // namespace comad::coro
