// SPDX-License-Identifier: MIT
// driver.hpp - what moves a schedule without Asio: a blocking poll loop, and virtual time. The Asio driver is in asio.hpp.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <concepts>
#include <functional>
#include <stop_token>

namespace comad::coro {

namespace detail {
/// Whether the driver has done its work; asked between turns.
class until {
public:
    virtual bool reached() const noexcept = 0;
    /// Before each turn: what has come from outside is told to the schedule.
    virtual void look_outside() noexcept {}
    /// Readable when something came from outside; -1: nothing does.
    virtual int descriptor() const noexcept { return -1; }

protected:
    ~until() = default;
};

template <class T> class until_done final : public until {
public:
    explicit until_done(const job<T>& j) noexcept : job_(j) {}
    bool reached() const noexcept override { return job_.done(); }

private:
    const job<T>& job_;
};

/// Cancels a domain, in the thread that drives, when another thread has requested it.
class remote_stop {
public:
    /// Throws std::system_error where the kernel gives no descriptor.
    remote_stop(std::stop_token, scope_state& domain);
    void look() noexcept {
        if (token_.stop_requested() && !domain_.cancelled()) domain_.cancel();
    }
    /// Readable from the request until it was seen.
    int descriptor() const noexcept { return domain_.cancelled() ? -1 : wake_.get(); }

private:
    struct wake {
        int event;
        void operator()() const noexcept;
    };
    mad::unique_fd wake_;
    std::stop_token token_;
    scope_state& domain_;
    std::stop_callback<wake> callback_; // last: it writes to the descriptor
};

template <class T> class until_done_or_stopped final : public until {
public:
    until_done_or_stopped(const job<T>& j, remote_stop& stop) noexcept : job_(j), stop_(stop) {}
    bool reached() const noexcept override { return job_.done(); }
    void look_outside() noexcept override { stop_.look(); }
    int descriptor() const noexcept override { return stop_.descriptor(); }

private:
    const job<T>& job_;
    remote_stop& stop_;
};

/// Whether time is simulated.
inline bool is_virtual(const MADSchedule& schedule) noexcept { return schedule.transport().native_handle() < 0; }
/// What a task finds in MADSchedule::now() at its first step.
void look_at_clock(MADSchedule&) noexcept;
/// poll() on the transport's descriptor and the real clock.
void drive_by_poll(MADSchedule&, until&);
/// No clock at all: time jumps to the next event or deadline.
void drive_virtual_time(MADSchedule&, until&);
inline void drive(MADSchedule& schedule, until& end) {
    if (is_virtual(schedule)) drive_virtual_time(schedule, end);
    else drive_by_poll(schedule, end);
}
} // namespace detail

/// Runs `t` to its end on the calling thread and gives its result: the synchronous API. A transport with a descriptor is
/// driven by poll() and the real clock, one without in virtual time. Throws what the task throws, and std::logic_error if
/// the task waits for something that this schedule will never bring. Not from inside a task of the same schedule.
template <class T> T sync_wait(MADSchedule& schedule, task<T> t) {
    detail::look_at_clock(schedule);
    job<T> running = schedule.queue(std::move(t));
    detail::until_done<T> end(running);
    detail::drive(schedule, end);
    return running.take();
}

/// The same, and another thread may request that it ends: what the task waits for is then cancelled, at once, and whatever it
/// still begins. Throws std::system_error, too, where the kernel gives no descriptor to wake by.
template <class T> T sync_wait(MADSchedule& schedule, task<T> t, std::stop_token stop) {
    detail::look_at_clock(schedule);
    scope_state domain(&schedule.root());
    detail::remote_stop remote(std::move(stop), domain);
    job<T> running = job<T>::start(std::move(t), domain);
    detail::until_done_or_stopped<T> end(running, remote);
    detail::drive(schedule, end);
    return running.take();
}

namespace detail {
template <class Rpc> task<mad::result<typename Rpc::value_type>> as_task(Rpc& call) { co_return co_await call; }
} // namespace detail

/// One RPC, synchronously: `auto info = sync_wait(sched, sched.SubnGet<NodeInfo>(path));`
template <std::derived_from<detail::rpc_base> Rpc> auto sync_wait(MADSchedule& schedule, Rpc&& call) {
    return sync_wait(schedule, detail::as_task(call));
}

/// Runs a schedule on the calling thread until `ended()`, which is asked whenever something has happened, be it a signal:
/// what a server does (MADSchedule::set_server()). Throws std::logic_error if nothing ever will happen.
void run_until(MADSchedule& schedule, const std::function<bool()>& ended);

} // namespace comad::coro
