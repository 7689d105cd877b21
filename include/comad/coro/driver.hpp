// SPDX-License-Identifier: MIT
// driver.hpp - drives a schedule without Asio: sync_wait() and run_until(), with poll() or in virtual time. asio.hpp has the Asio driver.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <concepts>
#include <functional>
#include <stop_token>

namespace comad::coro {

namespace detail {
/// Determines when a driver stops. The driver calls reached() between turns.
class until {
public:
    virtual bool reached() const noexcept = 0;
    /// Called before each turn: applies requests from other threads to the schedule.
    virtual void poll_outside() noexcept {}
    /// Returns a descriptor that is readable after a request from another thread; -1: there is none.
    virtual int descriptor() const noexcept { return -1; }

protected:
    ~until() = default;
};

/// Stops a driver when a job is done.
template <class T> class until_done final : public until {
public:
    explicit until_done(const job<T>& j) noexcept : job_(j) {}
    bool reached() const noexcept override { return job_.done(); }

private:
    const job<T>& job_;
};

/// Cancels a domain in the driving thread after another thread has requested a stop.
class remote_stop {
public:
    /// Throws std::system_error if the kernel does not provide a descriptor.
    remote_stop(std::stop_token, scope_state& domain);
    void look() noexcept {
        if (token_.stop_requested() && !domain_.cancelled()) domain_.cancel();
    }
    /// Returns a descriptor that is readable from the request until look() handles it.
    int descriptor() const noexcept { return domain_.cancelled() ? -1 : wake_.get(); }

private:
    struct wake {
        int event;
        void operator()() const noexcept;
    };
    mad::unique_fd wake_;
    std::stop_token token_;
    scope_state& domain_;
    std::stop_callback<wake> callback_; // last, because it writes to the descriptor
};

/// Stops a driver when a job is done, and cancels the job on a request from another thread.
template <class T> class until_done_or_stopped final : public until {
public:
    until_done_or_stopped(const job<T>& j, remote_stop& stop) noexcept : job_(j), stop_(stop) {}
    bool reached() const noexcept override { return job_.done(); }
    void poll_outside() noexcept override { stop_.look(); }
    int descriptor() const noexcept override { return stop_.descriptor(); }

private:
    const job<T>& job_;
    remote_stop& stop_;
};

/// Returns whether the schedule is in virtual time.
inline bool is_virtual(const MADSchedule& schedule) noexcept { return schedule.transport().native_handle() < 0; }
/// Sets the time that a task sees in MADSchedule::now() in its first step.
void read_clock(MADSchedule&) noexcept;
/// Drives a schedule with poll() on the transport's descriptor and the real clock.
void drive_by_poll(MADSchedule&, until&);
/// Drives a schedule without a clock: the time jumps to the next event or deadline.
void drive_virtual_time(MADSchedule&, until&);
/// Drives a schedule, in virtual time if its transport has no descriptor.
inline void drive(MADSchedule& schedule, until& end) {
    if (is_virtual(schedule)) drive_virtual_time(schedule, end);
    else drive_by_poll(schedule, end);
}
} // namespace detail

/// Runs `t` to its end on the calling thread and returns its result: the synchronous API. If the transport has a
/// descriptor, poll() and the real clock drive the schedule. Otherwise, the schedule runs in virtual time.
/// Errors:  throws what the task throws, and std::logic_error if the task waits for an event that cannot happen on
///          this schedule.
/// Threads: do not call it from a task of the same schedule.
template <class T> T sync_wait(MADSchedule& schedule, task<T> t) {
    detail::read_clock(schedule);
    job<T> running = schedule.queue(std::move(t));
    detail::until_done<T> end(running);
    detail::drive(schedule, end);
    return running.take();
}

/// Runs `t` as above until another thread requests a stop. A stop cancels the operations that the task waits for, and
/// those that it starts later.
/// Errors: as above; also throws std::system_error if the kernel does not provide a wake-up descriptor.
template <class T> T sync_wait(MADSchedule& schedule, task<T> t, std::stop_token stop) {
    detail::read_clock(schedule);
    scope_state domain(&schedule.root());
    detail::remote_stop remote(std::move(stop), domain);
    job<T> running = job<T>::start(std::move(t), domain);
    detail::until_done_or_stopped<T> end(running, remote);
    detail::drive(schedule, end);
    return running.take();
}

namespace detail {
/// Turns an RPC into a task.
template <class Rpc> task<mad::result<typename Rpc::value_type>> as_task(Rpc& call) { co_return co_await call; }
} // namespace detail

/// Makes one RPC and waits for its result: `auto info = sync_wait(sched, sched.SubnGet<NodeInfo>(path));`
template <std::derived_from<detail::rpc_base> Rpc> auto sync_wait(MADSchedule& schedule, Rpc&& call) {
    return sync_wait(schedule, detail::as_task(call));
}

/// Runs a schedule on the calling thread until `ended()` returns true. Use it for servers
/// (MADSchedule::set_server()). The driver calls `ended()` after every event, including signals. Throws
/// std::logic_error if no further event can happen.
void run_until(MADSchedule& schedule, const std::function<bool()>& ended);

} // namespace comad::coro
