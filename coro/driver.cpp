// SPDX-License-Identifier: MIT
// driver.cpp - implements the driver that blocks until a MAD or a deadline, and the driver for virtual time.
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/coro/driver.hpp>
#include <comad/mad/detail/system_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <system_error>

namespace comad::coro::detail {
namespace {

[[noreturn]] void nothing_to_wait_for() {
    throw std::logic_error("a task waits for an event that its schedule does not deliver");
}

void wait_for_transport(MADSchedule& schedule, const until& end) {
    const mad::time_point now = std::chrono::steady_clock::now();
    schedule.set_now(now); // starts the timeouts of the MADs that were just sent
    pollfd descriptors[]{{end.descriptor(), POLLIN, 0}, {schedule.transport().native_handle(), POLLIN, 0}};
    if (schedule.transport().wants_writable()) descriptors[1].events |= POLLOUT;
    if (schedule.transport_failed()) descriptors[1].fd = -1; // the descriptor of a failed transport is always readable
    timespec left{};
    const bool bounded = schedule.next_deadline() != mad::time_point::max();
    if (bounded) {
        const auto wait = std::max(schedule.next_deadline() - now, mad::duration{0}).count();
        left.tv_sec = static_cast<std::time_t>(wait / 1'000'000'000);
        left.tv_nsec = static_cast<long>(wait % 1'000'000'000);
    }
    ++mad::detail::system_calls;
    if (::ppoll(descriptors, std::size(descriptors), bounded ? &left : nullptr, nullptr) < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll");
}

} // namespace

remote_stop::remote_stop(std::stop_token token, scope_state& domain)
    : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), token_(std::move(token)), domain_(domain),
      callback_(token_, wake{wake_.get()}) {
    if (!wake_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void remote_stop::wake::operator()() const noexcept { ::eventfd_write(event, 1); }

void read_clock(MADSchedule& schedule) noexcept {
    if (!is_virtual(schedule)) schedule.set_now(std::chrono::steady_clock::now());
    else if (const auto there = schedule.transport().simulated_time())
        schedule.set_now(std::max(*there, schedule.now()));
}

void drive_by_poll(MADSchedule& schedule, until& end) {
    schedule.use_clock(std::chrono::steady_clock::now);
    for (;;) {
        end.poll_outside();
        schedule.set_now(std::chrono::steady_clock::now());
        const bool more = schedule.turn();
        if (end.reached()) return;
        if (more) continue;
        if (schedule.idle() && schedule.in_flight() == 0) nothing_to_wait_for();
        wait_for_transport(schedule, end);
    }
}

void drive_virtual_time(MADSchedule& schedule, until& end) {
    if (virtual_time* const group = group_of(schedule)) return group->drive(end);
    schedule.use_clock(nullptr);
    schedule.set_now(schedule.now());
    for (;;) {
        end.poll_outside();
        const bool more = schedule.turn();
        if (end.reached()) return;
        if (more) continue;
        schedule.set_now(schedule.now()); // starts the timeouts of the MADs that were just sent
        const mad::time_point next = schedule.next_deadline();
        if (next > schedule.now()) refuse_undriven(schedule, next);
        if (next == mad::time_point::max()) nothing_to_wait_for();
        schedule.set_now(std::max(next, schedule.now()));
    }
}

} // namespace comad::coro::detail

namespace comad::coro {
namespace {

/// Ends a run in virtual time when a function returns true.
class until_ended final : public detail::until {
public:
    explicit until_ended(const std::function<bool()>& ended) noexcept : ended_(ended) {}
    bool reached() const noexcept override { return ended_(); }

private:
    const std::function<bool()>& ended_;
};

} // namespace

void run_until(MADSchedule& schedule, const std::function<bool()>& ended) {
    until_ended end(ended);
    detail::drive(schedule, end);
}

} // namespace comad::coro
