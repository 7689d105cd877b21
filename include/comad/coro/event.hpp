// SPDX-License-Identifier: MIT
// event.hpp - something that happens, and that any number of tasks of one schedule wait for. Knows no clock and no MAD.
#pragma once
#include <comad/coro/detail/pause.hpp>
#include <comad/coro/schedule.hpp>

#include <coroutine>

namespace comad::coro {

class [[nodiscard]] event_awaiter;

/// Set or not, until somebody says otherwise. `co_await ready.wait()` gives true when it is set, at once if it is already,
/// and false if the wait was cancelled before.
/// Resuming: set() ends the waits of all who wait then, whatever reset() does after it; the schedule resumes them with its
///           next turn, never set() itself. Whoever sets it from outside of the schedule's tasks wakes the driver after it
///           (asio_driver::wake()).
/// Errors:   none. A task that waits for an event that nothing else on the schedule can set makes sync_wait throw.
/// Threads:  the schedule's alone.
/// Lifetime: the schedule outlives the event; the event outlives whoever waits for it.
class event {
public:
    explicit event(MADSchedule& schedule) noexcept : resumed_by_(schedule.pauses_) {}
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    bool is_set() const noexcept { return set_; }
    void set() noexcept;
    void reset() noexcept { set_ = false; }
    event_awaiter wait() noexcept;

private:
    friend class event_awaiter;
    void add(detail::waiting&) noexcept;

    detail::pauses& resumed_by_;
    detail::ring_link waiting_; // head; the first to wait comes first
    bool set_ = false;
};

/// Awaited once, where it was made.
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
