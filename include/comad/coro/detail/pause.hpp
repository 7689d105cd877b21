// SPDX-License-Identifier: MIT
// pause.hpp - pauses on the clock of a schedule, as awaitables. It depends on no driver and no MAD.
#pragma once
#include <comad/coro/scope.hpp>
#include <comad/mad/detail/time.hpp>

#include <coroutine>
#include <utility>

namespace comad::coro {

class event;
class pause_awaiter;

namespace detail {

/// A link of a circular list. A link that is in no list forms a ring of one.
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
    void insert_after(ring_link& other) noexcept {
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

/// The pauses of one schedule, and all other waits that it resumes and that wait for no MAD. Starting a pause takes
/// time proportional to the number of pauses that end later.
class pauses {
public:
    /// Starts a pause.
    void begin(pause_awaiter&) noexcept;
    /// Resumes the coroutine in the next end_ready(). Further calls for the same wait have no effect.
    void end_soon(waiting&, bool passed) noexcept;

    /// Sets the time. Pauses that started since the last call count from `now`.
    void set_now(mad::time_point now) noexcept;
    /// Returns the time at which the first pause ends; max(): never.
    mad::time_point next_end() const noexcept;
    /// Resumes the pauses that have ended at `now`.
    void end_due(mad::time_point now) noexcept;
    /// Resumes the waits that end_soon() has named.
    void end_ready() noexcept;
    /// Returns true if end_ready() has a wait to resume.
    bool has_ready() const noexcept { return !ready_.alone(); }
    /// Returns true if nothing waits.
    bool none() const noexcept { return started_.alone() && running_.alone() && ready_.alone(); }

private:
    ring_link started_, running_, ready_; // heads of rings; in running_, the pause that ends first comes first
};

/// The base of awaitables that wait for no MAD. Only the schedule resumes the coroutine, never the code that ends the
/// wait. `co_await` returns true if the awaited event happened, and false after a cancellation.
class waiting : private pending, private ring_link {
public:
    bool await_ready() const noexcept { return false; }
    bool await_resume() const noexcept { return passed_; }

protected:
    explicit waiting(pauses& all) noexcept : all_(all) {}
    /// Suspends the coroutine until the wait ends or its domain is canceled. Returns false if the domain is
    /// canceled already.
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
        awaiting_.resume(); // resume() may destroy this object
    }
    std::coroutine_handle<> awaiting_;
    bool ending_ = false; // the schedule is about to resume the coroutine
};

} // namespace detail

/// The awaitable of `co_await schedule.pause(1s)`. It returns true when the time has passed, and false if it was
/// canceled first. Await it once, in the scope that created it.
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
    bool has_end_ = false; // false: the length counts from the next set_now()
};

} // namespace comad::coro
