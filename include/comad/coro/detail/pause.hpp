// SPDX-License-Identifier: MIT
// pause.hpp - time that passes on a schedule's clock, as something to await. Knows no driver and no MAD.
#pragma once
#include <comad/coro/scope.hpp>
#include <comad/mad/detail/time.hpp>

#include <coroutine>
#include <utility>

namespace comad::coro {

class event;
class pause_awaiter;

namespace detail {

/// A place in a ring; alone, it is a ring of its own.
class ring_link {
public:
    ring_link() noexcept : previous_(this), next_(this) {}
    ring_link(const ring_link&) = delete;
    ring_link& operator=(const ring_link&) = delete;
    ~ring_link() { leave(); }

    bool alone() const noexcept { return next_ == this; }
    ring_link& previous() const noexcept { return *previous_; }
    ring_link& next() const noexcept { return *next_; }
    void leave() noexcept {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        previous_ = next_ = this;
    }
    void join_behind(ring_link& other) noexcept {
        leave();
        previous_ = &other;
        next_ = other.next_;
        next_->previous_ = this;
        other.next_ = this;
    }

private:
    ring_link* previous_;
    ring_link* next_;
};

class waiting;

/// The pauses of one schedule, and whatever else it resumes that waits for no MAD. Beginning a pause costs as much as there
/// are others that end later.
class pauses {
public:
    void begin(pause_awaiter&) noexcept;
    /// Resumes it with the next end_ready(). Once it is called for one, further calls change nothing.
    void end_soon(waiting&, bool passed) noexcept;

    /// Those that began since the last call are timed from `now`.
    void set_now(mad::time_point now) noexcept;
    /// When the first one ends; max(): never.
    mad::time_point next_end() const noexcept;
    /// Resumes those that are over at `now`.
    void end_due(mad::time_point now) noexcept;
    /// Resumes those that end_soon() named.
    void end_ready() noexcept;
    bool has_ready() const noexcept { return !ready_.alone(); }
    bool none() const noexcept { return begun_.alone() && running_.alone() && ready_.alone(); }

private:
    ring_link begun_, running_, ready_; // heads; running_: the first to end comes first
};

/// A coroutine that waits for no MAD. The schedule resumes it, never whoever ends the wait. True: what it waited for came.
class waiting : private pending, private ring_link {
public:
    bool await_ready() const noexcept { return false; }
    bool await_resume() const noexcept { return passed_; }

protected:
    explicit waiting(pauses& all) noexcept : all_(all) {}
    /// False if its domain is cancelled; else it suspends, and ends with it.
    bool suspend(std::coroutine_handle<> awaiting, scope_state* scope) noexcept {
        if (scope && scope->cancelled()) return false;
        awaiting_ = awaiting;
        pending::link(scope);
        return true;
    }
    pauses& all_;
    bool passed_ = false;

private:
    friend class pauses;
    friend class comad::coro::event;
    void cancel() noexcept override { all_.end_soon(*this, false); }
    void end(bool passed) noexcept {
        ring_link::leave();
        pending::unlink();
        passed_ = passed;
        awaiting_.resume(); // this object may be gone after it
    }
    std::coroutine_handle<> awaiting_;
    bool ending_ = false; // the schedule is going to resume it
};

} // namespace detail

/// `co_await schedule.pause(1s)`: true when the time has passed, false when it was cancelled before. Awaited once, where it
/// was made.
class [[nodiscard]] pause_awaiter final : public detail::waiting {
public:
    pause_awaiter(detail::pauses& all, mad::duration length) noexcept : waiting(all), length_(length) {}
    pause_awaiter(detail::pauses& all, mad::time_point end) noexcept : waiting(all), end_(end), has_end_(true) {}

    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        if (!suspend(awaiting, awaiting.promise().scope)) return false;
        all_.begin(*this);
        return true;
    }

private:
    friend class detail::pauses;
    mad::duration length_{};
    mad::time_point end_{};
    bool has_end_ = false; // else it counts from the next set_now()
};

} // namespace comad::coro
