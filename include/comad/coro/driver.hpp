// SPDX-License-Identifier: MIT
// driver.hpp - what moves a schedule without Asio: a blocking poll loop, and virtual time. The Asio driver is in asio.hpp.
#pragma once
#include <comad/coro/schedule.hpp>

#include <concepts>
#include <functional>

namespace comad::coro {

namespace detail {
/// Whether the driver has done its work; asked between turns.
class until {
public:
    virtual bool reached() const noexcept = 0;

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

/// poll() on the transport's descriptor and the real clock.
void drive_by_poll(MADSchedule&, const until&);
/// No clock at all: time jumps to the next event or deadline.
void drive_virtual_time(MADSchedule&, const until&);
} // namespace detail

/// Runs `t` to its end on the calling thread and gives its result: the synchronous API. A transport with a descriptor is
/// driven by poll() and the real clock, one without in virtual time. Throws what the task throws, and std::logic_error if
/// the task waits for something that this schedule will never bring. Not from inside a task of the same schedule.
template <class T> T sync_wait(MADSchedule& schedule, task<T> t) {
    job<T> running = schedule.queue(std::move(t));
    const detail::until_done<T> end(running);
    if (schedule.transport().native_handle() < 0) detail::drive_virtual_time(schedule, end);
    else detail::drive_by_poll(schedule, end);
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

/// Messages that a driver handles before it looks at the clock again: bounds how stale the schedule's time can be and
/// keeps timeouts on time under continuous traffic.
inline constexpr unsigned burst = 64;

} // namespace comad::coro
