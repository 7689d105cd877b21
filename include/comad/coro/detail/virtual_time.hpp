// SPDX-License-Identifier: MIT
// virtual_time.hpp - a shared virtual time for several schedules: waiting on one schedule drives all of them.
// Its public interface is <comad/testing.hpp>.
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

    /// Drives all schedules until `ended()` returns true.
    /// Errors: throws std::logic_error if no further event can happen. It also throws if a schedule outside the group,
    ///         with the same clock, has an event that is due, or if a task of one of the schedules calls it.
    void run_until(const std::function<bool()>& ended);
    /// Drives all schedules until the virtual time is `end`.
    void run_until(mad::time_point end);
    /// Drives all schedules until `ended()` returns true, and calls `poll` in each turn. `poll` runs an event loop
    /// whose handlers belong to the same program, and returns whether it did something.
    void run_with(const std::function<bool()>& poll, const std::function<bool()>& ended);
    /// Drives all schedules until `until` is reached.
    void drive(until&);

    /// Returns the present virtual time.
    mad::time_point now() const noexcept;

    /// Removes a schedule of the group that is being destroyed.
    void forget(const MADSchedule&) noexcept;

    struct impl;

private:
    const std::unique_ptr<impl> impl_;
};

/// Returns the group of a schedule; null: none.
virtual_time* group_of(const MADSchedule&) noexcept;
/// Registers a new schedule. Only schedules in virtual time are registered.
void remember(MADSchedule&);
/// Removes a schedule that is being destroyed.
void forget(const MADSchedule&) noexcept;
/// Throws std::logic_error if another unfinished schedule with the same clock has an event before `next`. Returns false if the schedule
/// has no clock that others can share.
bool refuse_undriven(const MADSchedule& driven, mad::time_point next);

} // namespace comad::coro::detail
