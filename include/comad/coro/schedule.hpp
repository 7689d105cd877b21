// SPDX-License-Identifier: MIT
// schedule.hpp - MADSchedule: awaitable RPCs over one transport, at most max_outstanding MADs in flight.
// Knows no Asio and no clock: a driver (driver.hpp, asio.hpp) moves it.
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

struct schedule_options {
    /// MADs in flight at any instant, 1..65536; the transport may lower it. 0: as many as the fabric carries without queueing
    /// them (docs/explanation/adaptive-retries.md), up to engine_options::most_adaptive.
    unsigned max_outstanding = 0;
    /// Of those, SMPs to one destination as addressed; 0: no bound. A node need buffer only one VL15 packet, and an SMA
    /// answers serially.
    unsigned per_destination = 1;
    /// Of those, GMPs of one class to one destination; 0: no bound. An agent answers serially as well, and the ports of one
    /// switch would fill the window.
    u16 gmps_per_destination = 4;
    /// Per attempt of every RPC. 0: Gets and Sets, except those to the SA, follow measured round trips (mad::rtt_estimator);
    /// all other requests have unmeasured_timeout. docs/explanation/adaptive-retries.md has a table of the waits.
    mad::duration timeout{0};
    /// Per attempt of requests without a usual time: requests to the SA, tables, Reports. It is also the longest wait for the
    /// reply to a Set. 0: what the path gives (mad_timeout() in path.hpp), 6.4 s by default.
    mad::duration unmeasured_timeout{0};
    /// Attempts after the first, 0..255, of requests with a timeout. -1: set_retries for Sets that follow measured round trips,
    /// usual_retries for all others.
    int retries = -1;
    static constexpr u8 usual_retries = 2, set_retries = 6;
    u8 busy_retries = 5; ///< attempts after replies that say BUSY, each after a longer pause up to the timeout
    /// Requests to the SA in flight, those included that were cancelled and not answered yet; 0: as many as the transport
    /// sends at once (sa_window).
    u16 sa_outstanding = 0;
    u32 seed = 1;                     ///< where transaction IDs begin
    unsigned max_rate = 0;            ///< MADs per second, repeated ones included; 0: any number
    bool polite = false;              ///< an adaptive window is never larger than a subnet manager's, 4 MADs
    mad::patience_options patience{}; ///< of Gets without a timeout
};

/// Messages that a driver handles before it looks at the clock again: bounds how stale the schedule's time can be.
inline constexpr unsigned burst = 64;

/// Finds the path to where `to` leads: to its DGID. What the answer does not say stays as it is in `to`.
class path_resolver {
public:
    virtual task<mad::result<mad::IBPath>> resolve_path(mad::IBPath to) = 0;
    /// A request to the SA at the LID `asked` was refused or not answered. Returns the path by which to send it once more;
    /// nothing: the SA is still there. A subnet manager that takes over runs at another port (IBA 14.4).
    virtual task<std::optional<mad::IBPath>> find_sa(iba::lid /*asked*/) { co_return std::nullopt; }

protected:
    ~path_resolver() = default;
};

/// Runs coroutines over one transport. One thread: everything on it, tasks included, happens in the thread that drives
/// it; several schedules may run in several threads. Tasks, jobs and scopes on it must end before it does.
class MADSchedule : public rpcs<MADSchedule> {
public:
    /// `t` must outlive the schedule. Throws std::invalid_argument for a window outside 1..65536.
    explicit MADSchedule(mad::transport& t, schedule_options = {});
    ~MADSchedule();
    MADSchedule(const MADSchedule&) = delete;
    MADSchedule& operator=(const MADSchedule&) = delete;

    // ---- RPCs: `auto info = co_await sched.SubnGet<PortInfo>(path, port);` (rpcs.hpp) ------------------------------
    // Cancel:   while it waits for a place in the window nothing was sent, and nothing will be; on the wire, it counts in the
    //           window until it is answered or lost, and its reply is counted as stale.
    // Lifetime: awaited once, in the expression that makes it or from a named local.

    /// For rpcs.hpp.
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
    /// An RPC whose class, method and attribute are known at run time alone.
    raw_rpc call_raw(const rpc_request& request, std::span<const u8, mad::mad_size> mad,
                     reply_size size = reply_size::of_method) noexcept {
        return {*this, request, mad, size};
    }

    /// Where the SA is, as it was set (sa::client sets it); until then nowhere, DLID 0.
    const mad::IBPath& sa_path() const noexcept { return sa_path_; }
    void set_sa_path(const mad::IBPath& path) noexcept { sa_path_ = path; }

    /// True if `source` is the SA's: it has the LID and QP of sa_path(), or of where the SA has redirected requests to (IBA
    /// 13.5.2). For what arrives unasked, as Reports do. A source whose LID the transport does not report (0) is not the SA's.
    bool is_sa(const mad::source_address& source) const noexcept;

    /// Finds the path when a target redirects to a GID without a LID, and when an SA does not answer any more (sa::client
    /// sets itself). Null: both are errors. It must outlive the schedule, or be taken away.
    void set_path_resolver(path_resolver* resolver) noexcept { path_resolver_ = resolver; }

    /// Who hears of every MAD; null: nobody. It must outlive the schedule, or be taken away.
    void set_trace(mad::trace_sink* sink) noexcept;

    /// Who gets the requests of others that arrive here (server/agent.hpp); null: they are counted as stale. It must outlive
    /// the schedule, or be taken away. A schedule with a server is never idle.
    void set_server(mad::request_sink* server) noexcept { server_ = server; }

    // ---- tasks --------------------------------------------------------------------------------------------------------

    /// Starts `t` at once; `co_await` the job for its result.
    template <class T> job<T> queue(task<T> t) { return job<T>::start(std::move(t), root_); }
    /// Runs the tasks that `tasks` yields in parallel, pulling the next one only while the window has room and fewer than
    /// mqueue_options::max_tasks are alive; ends when all ended. Tasks return void, or a mad::result whose errors the report
    /// counts. A generator that yields an empty task says "nothing to start until something else happened" and is asked again
    /// later.
    /// Nesting cannot deadlock: a task that awaits an inner mqueue holds no slot.
    template <class T> mqueue_awaiter<T> mqueue(generator<task<T>> tasks, mqueue_options options = {}) {
        return {*this, std::move(tasks), options};
    }
    /// Lets time pass: true, or false if it is cancelled before. Counts from the driver's next look at the clock, as
    /// timeouts do; duration::max() is for ever.
    pause_awaiter pause(mad::duration length) noexcept { return {pauses_, length}; }
    /// The same until `end` on the schedule's clock (now()); at once if that has passed.
    pause_awaiter pause_until(mad::time_point end) noexcept { return {pauses_, end}; }
    /// The outermost cancellation domain.
    scope_state& root() noexcept { return root_; }

    const mad::engine_counters& counters() const noexcept;
    unsigned in_flight() const noexcept;
    unsigned window() const noexcept;
    const schedule_options& options() const noexcept { return options_; }

    // ---- for drivers --------------------------------------------------------------------------------------------------

    mad::transport& transport() noexcept { return transport_; }
    const mad::transport& transport() const noexcept { return transport_; }
    mad::time_point now() const noexcept;
    /// The clock that set_now() tells, if it goes on by itself: round trips are measured with it. Drivers set it.
    void use_clock(mad::clock_reading clock) noexcept;
    void set_now(mad::time_point now) noexcept;
    /// All that there is to do at now(): reads, then expires what is due, unless there is more to read, settles. True if there
    /// is more to do at once. For drivers that have nothing to do in between.
    bool turn() noexcept;
    /// Expires what is due at now(), and ends pauses. What has arrived is to be read before.
    void on_time() noexcept;
    /// Nothing expires before, and the transport wants nothing before. Precondition: set_now() since the last RPC or pause
    /// was started.
    mad::time_point next_deadline() const noexcept;
    /// Reads and handles at most `max` messages. True if it stopped at `max`: there may be more.
    bool receive(unsigned max) noexcept;
    /// Everything that needs no message: refused and cancelled operations end, blocked sends are offered again, sources
    /// are pulled. True if there is more of it to do.
    bool settle() noexcept;
    /// The transport failed: there is nothing more to read.
    bool transport_failed() const noexcept { return transport_failed_; }
    /// Nothing is under way that anybody awaits: if a task is not done now, it never will be, unless it waits for a place that
    /// something cancelled still has in the window (in_flight()).
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
        std::array<u8, 384> bytes; // of a longer message the beginning
    };
    bool receive_long(incoming&);
    void handle(const mad::received&) noexcept;

    mad::transport& transport_;
    schedule_options options_;
    const std::unique_ptr<mad::engine> engine_; // its parts are no part of the ABI
    mad::request_sink* server_ = nullptr;
    detail::pauses pauses_;
    scope_state root_{nullptr};
    detail::task_source* newest_ = nullptr;
    bool source_cancelled_ = false; // one or more: look for them
    bool transport_failed_ = false;
    mad::clock_reading clock_ = nullptr;
    unsigned to_read_ = 0; // messages, before something expires that is due
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
    if (children_.live() == 0) awaiting_.resume(); // this object may be gone after it
    return pulled::exhausted;
}

} // namespace comad::coro
