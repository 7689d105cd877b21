// SPDX-License-Identifier: MIT
// schedule.hpp - MADSchedule: awaitable RPCs over one transport, at most max_outstanding MADs in flight.
// Knows no Asio and no clock: a driver (driver.hpp, asio.hpp) moves it.
#pragma once
#include <comad/coro/mqueue.hpp>
#include <comad/coro/rpc.hpp>
#include <comad/coro/scope.hpp>
#include <comad/iba/attribute.hpp>
#include <comad/mad/engine.hpp>

#include <array>
#include <concepts>

namespace comad::coro {

struct schedule_options {
    unsigned max_outstanding = 64; ///< MADs in flight at any instant, 1..65536; the transport may lower it
    unsigned per_destination = 2;  ///< of those, SMPs to one destination as addressed; 0: no bound. A node need buffer
                                   ///< only one VL15 packet, and an SMA answers serially
    mad::duration timeout = std::chrono::seconds(1); ///< per attempt
    u8 retries = 2;                                  ///< attempts after the first
    u32 seed = 1;                                    ///< where transaction IDs begin
};

/// For the second template argument of an RPC: the reply's header and source come with the payload.
inline constexpr bool with_header = true;

/// Runs coroutines over one transport. One thread: everything on it, tasks included, happens in the thread that drives
/// it; several schedules may run in several threads. Tasks, jobs and scopes on it must end before it does.
class MADSchedule {
public:
    /// `t` must outlive the schedule. Throws std::invalid_argument for a window outside 1..65536.
    explicit MADSchedule(mad::transport& t, schedule_options = {});
    ~MADSchedule();
    MADSchedule(const MADSchedule&) = delete;
    MADSchedule& operator=(const MADSchedule&) = delete;

    // ---- RPCs: `auto info = co_await sched.SubnGet<PortInfo>(path, port);` --------------------------------------------

    /// SubnGet(T) to `path` (LID-routed or directed). `co_await` gives result<T>, or with `with_header` result<reply<T>>.
    /// Modifier: attributeModifier, host order (of PortInfo: the port number).
    /// Errors:   timed_out after all attempts, status, send_failed, transport_failed, cancelled. Never throws.
    /// Cancel:   while it waits for a slot nothing was sent; on the wire, the slot is free at once and the late reply is
    ///           counted as stale.
    /// Lifetime: `path` is copied; awaited once, in the expression that makes it or from a named local.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, iba::MgmtClass::SubnLID, iba::Method::Get>
    rpc<T, Header> SubnGet(const mad::any_path& path, u32 attributeModifier = 0, rpc_options options = {}) noexcept {
        return {*this, kind_of<T, iba::MgmtClass::SubnLID, iba::Method::Get>, path, attributeModifier, options};
    }
    /// The same with a payload in the request. Errors: also out_of_range if a value does not fit its field; then nothing
    /// is sent.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, iba::MgmtClass::SubnLID, iba::Method::Get>
    rpc<T, Header> SubnGet(const T& request, const mad::any_path& path, u32 attributeModifier = 0,
                           rpc_options options = {}) noexcept {
        return {*this,  kind_of<T, iba::MgmtClass::SubnLID, iba::Method::Get>, request, path, attributeModifier,
                options};
    }
    /// SubnSet(T): writes to the fabric. Retried after a timeout like a Get; gives what the node then holds.
    /// Errors: also out_of_range, as above.
    template <iba::attribute T, bool Header = false>
        requires iba::allows<T, iba::MgmtClass::SubnLID, iba::Method::Set>
    rpc<T, Header> SubnSet(const T& request, const mad::any_path& path, u32 attributeModifier = 0,
                           rpc_options options = {}) noexcept {
        return {*this,  kind_of<T, iba::MgmtClass::SubnLID, iba::Method::Set>, request, path, attributeModifier,
                options};
    }

    // ---- tasks --------------------------------------------------------------------------------------------------------

    /// Starts `t` at once; `co_await` the job for its result.
    template <class T> job<T> queue(task<T> t) { return job<T>::start(std::move(t), root_); }
    /// Runs the tasks that `tasks` yields in parallel, pulling the next one only while the window has room; ends when all
    /// ended. Tasks return void, or a mad::result whose errors the report counts. A generator that yields an empty task
    /// says "nothing to start until something else happened" and is asked again later.
    /// Nesting cannot deadlock: a task that awaits an inner mqueue holds no slot.
    template <class T> mqueue_awaiter<T> mqueue(generator<task<T>> tasks, sweep_options options = {}) {
        return {*this, std::move(tasks), options};
    }
    /// The outermost cancellation domain.
    scope_state& root() noexcept { return root_; }

    const mad::engine_counters& counters() const noexcept { return engine_.counters(); }
    unsigned in_flight() const noexcept { return engine_.in_flight(); }
    unsigned window() const noexcept { return engine_.window(); }
    const schedule_options& options() const noexcept { return options_; }

    // ---- for drivers --------------------------------------------------------------------------------------------------

    mad::transport& transport() noexcept { return transport_; }
    mad::time_point now() const noexcept { return engine_.now(); }
    void set_now(mad::time_point now) noexcept { engine_.set_now(now); }
    /// Expires what is due at now().
    void on_time() noexcept { engine_.on_time(); }
    /// Nothing expires before. Precondition: set_now() since the last RPC was started.
    mad::time_point next_deadline() const noexcept { return engine_.next_deadline(); }
    /// Reads and handles at most `max` messages. True if it stopped at `max`: there may be more.
    bool receive(unsigned max) noexcept;
    /// Everything that needs no message: refused and cancelled operations end, blocked sends are offered again, sources
    /// are pulled. True if there is more of it to do.
    bool settle() noexcept;
    /// The transport failed: there is nothing more to read.
    bool transport_failed() const noexcept { return transport_failed_; }
    /// Nothing is under way: if a task is not done now, it never will be.
    bool idle() const noexcept { return engine_.idle(); }

private:
    friend class detail::rpc_base;
    template <class T> friend class mqueue_awaiter;

    template <class T, iba::MgmtClass Class, iba::Method M>
    static constexpr mad::rpc_kind kind_of{Class, iba::use_of<T>(Class).class_version, M,
                                           iba::attribute_of<T>::attributeID, true};

    unsigned receive_batch(unsigned wanted) noexcept;
    void pull() noexcept;
    void end_cancelled_sources() noexcept;
    void add_source(detail::task_source&) noexcept;
    void remove_source(detail::task_source&) noexcept;

    static constexpr unsigned batch = 16;
    struct incoming {
        mad::received message;
        std::array<u8, 384> bytes; // longer messages are cut and thereby told from MADs
    };

    mad::transport& transport_;
    schedule_options options_;
    mad::engine engine_;
    scope_state root_{nullptr};
    detail::task_source* newest_ = nullptr;
    bool source_cancelled_ = false; // one or more: look for them
    bool transport_failed_ = false;
    std::array<incoming, batch> inbox_;
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
