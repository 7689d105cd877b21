// SPDX-License-Identifier: MIT
// event.hpp - event: a flag that any number of tasks of one schedule can wait for. It depends on no clock and no MAD.
#pragma once
#include <comad/coro/detail/pause.hpp>
#include <comad/coro/schedule.hpp>

#include <coroutine>

namespace comad::coro {

class [[nodiscard]] event_awaiter;

/// A flag that stays set until reset() clears it. `co_await ready.wait()` returns true when the event is set,
/// immediately if it is set already. It returns false if the wait was canceled first.
/// Resuming: set() ends all current waits, even if reset() follows. The schedule resumes the tasks in its next turn;
/// set() itself resumes none. Code outside the schedule's tasks must call asio_driver::wake() after set().
/// Errors:   none. sync_wait() throws if a task waits for an event that no other task of the schedule can set.
/// Threads:  only the thread of the schedule.
/// Lifetime: the schedule must outlive the event. The event must outlive the tasks that wait for it.
class event {
public:
    explicit event(MADSchedule& schedule) noexcept : resumed_by_(schedule.pauses_) {}
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    /// Returns true if the event is set.
    bool is_set() const noexcept { return set_; }
    /// Sets the event and ends all current waits.
    void set() noexcept;
    /// Clears the event.
    void reset() noexcept { set_ = false; }
    /// Returns an awaitable that waits until the event is set.
    event_awaiter wait() noexcept;

private:
    friend class event_awaiter;
    void add(detail::waiting&) noexcept;

    detail::pauses& resumed_by_;
    detail::ring_link waiting_; // the head of the ring; the oldest wait is first
    bool set_ = false;
};

/// The awaitable that event::wait() returns. Await it once, in the scope that created it.
class event_awaiter final : public detail::waiting {
public:
    event_awaiter(event& awaited, detail::pauses& all) noexcept : waiting(all), event_(awaited) {}

    bool await_ready() noexcept { return passed_ = event_.is_set(); }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        if (!suspend(awaiting, awaiting.promise().scope)) return false;
        event_.add(*this);
        return true;
    }

private:
    event& event_;
};

inline event_awaiter event::wait() noexcept { return {*this, resumed_by_}; }

} // namespace comad::coro
