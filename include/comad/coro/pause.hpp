// SPDX-License-Identifier: MIT
// pause.hpp - time that passes on a schedule's clock, as something to await. Knows no driver and no MAD.
#pragma once
#include <comad/coro/scope.hpp>
#include <comad/mad/time.hpp>

#include <coroutine>
#include <utility>

namespace comad::coro {

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

/// The pauses of one schedule. Beginning one costs as much as there are others that end later.
class pauses {
public:
    void begin(pause_awaiter&) noexcept;
    void cancel(pause_awaiter&) noexcept;

    /// Those that began since the last call are timed from `now`.
    void set_now(mad::time_point now) noexcept;
    /// When the first one ends; max(): never.
    mad::time_point next_end() const noexcept;
    /// Resumes those that are over at `now`.
    void end_due(mad::time_point now) noexcept;
    /// Resumes those that were cancelled.
    void end_cancelled() noexcept;
    bool has_cancelled() const noexcept { return !cancelled_.alone(); }
    bool none() const noexcept { return begun_.alone() && running_.alone() && cancelled_.alone(); }

private:
    ring_link begun_, running_, cancelled_; // heads; running_: the first to end comes first
};

} // namespace detail

/// `co_await schedule.pause(1s)`: true when the time has passed, false when it was cancelled before. Awaited once, where it
/// was made.
class [[nodiscard]] pause_awaiter final : private pending, private detail::ring_link {
public:
    pause_awaiter(detail::pauses& all, mad::duration length) noexcept : all_(all), length_(length) {}

    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        scope_state* const scope = awaiting.promise().scope;
        if (scope && scope->cancelled()) return false;
        awaiting_ = awaiting;
        pending::link(scope);
        all_.begin(*this);
        return true;
    }
    bool await_resume() const noexcept { return passed_; }

private:
    friend class detail::pauses;
    void cancel() noexcept override { all_.cancel(*this); }
    void end(bool passed) noexcept {
        ring_link::leave();
        pending::unlink();
        passed_ = passed;
        awaiting_.resume();
    }

    detail::pauses& all_;
    mad::duration length_;
    mad::time_point end_{};
    bool passed_ = false;
    std::coroutine_handle<> awaiting_;
};

} // namespace comad::coro
