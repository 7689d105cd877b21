// SPDX-License-Identifier: MIT
// virtual_time.hpp - one virtual time for several schedules: whoever waits for one of them drives all of them.
// <comad/testing.hpp> is the public face of it.
#pragma once
#include <comad/mad/detail/time.hpp>

#include <functional>
#include <memory>

namespace comad::coro {
class MADSchedule;
} // namespace comad::coro

namespace comad::coro::detail {

class until;

/// A group of schedules in virtual time. After add(), sync_wait() and run_until() on one of the schedules drive all schedules of
/// the group, and an asio_driver accepts them.
/// Order:   in each turn the schedules run in the order in which they were added, so that runs repeat exactly.
/// Threads: one, that of all its schedules.
class virtual_time {
public:
    virtual_time();
    ~virtual_time();
    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;

    /// Adds a schedule; its destructor removes it. Throws std::invalid_argument if its transport does not use virtual time, or if it
    /// is in a group already.
    void add(MADSchedule&);

    /// Drives all schedules until `ended()`. Throws std::logic_error if nothing will happen any more, if a schedule with the same
    /// clock that is in no group has an event that is due, and if it is called by a task of one of the schedules.
    void run_until(const std::function<bool()>& ended);
    /// Drives all schedules until virtual time is `end`.
    void run_until(mad::time_point end);
    /// Calls `poll` in each turn, too, until `ended()`: an event loop, whose handlers belong to the same program. `poll` returns
    /// whether it did something.
    void run_with(const std::function<bool()>& poll, const std::function<bool()>& ended);
    void drive(until&);

    mad::time_point now() const noexcept;

    /// A schedule of the group ends.
    void forget(const MADSchedule&) noexcept;

    struct impl;

private:
    const std::unique_ptr<impl> impl_;
};

/// The group that a schedule is in; null: none.
virtual_time* group_of(const MADSchedule&) noexcept;
/// A schedule begins and ends. Only schedules in virtual time are remembered.
void remember(MADSchedule&);
void forget(const MADSchedule&) noexcept;
/// Throws std::logic_error if another schedule with the clock of this one is unfinished and has an event before `next`.
void refuse_undriven(const MADSchedule& driven, mad::time_point next);

} // namespace comad::coro::detail
