// SPDX-License-Identifier: MIT
// scope.hpp - structured concurrency: job, a task that has started, and scope, which owns and cancels child tasks.
// It depends on no driver and no MAD.
#pragma once
#include <comad/coro/task.hpp>

#include <cstddef>

namespace comad::coro {

/// An unfinished operation that a scope can cancel. It is linked into its scope while it is pending.
class pending {
public:
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;
    /// Requests that the operation end soon with the result "canceled". The operation does not end inside this call.
    virtual void cancel() noexcept = 0;

protected:
    pending() = default;
    virtual ~pending() { unlink(); }
    void link(scope_state* scope) noexcept;
    void unlink() noexcept;
    /// Returns the scope that contains the operation; null: none.
    scope_state* linked_in() const noexcept { return scope_; }

private:
    friend class scope_state;
    scope_state* scope_ = nullptr;
    pending* previous_; // in the scope's list; valid only if scope_ is set
    pending* next_;
};

/// A cancellation domain: the operations that are pending in it, and its inner domains. A task belongs to the domain
/// of the task that awaits it. A scope opens a new domain.
class scope_state {
public:
    explicit scope_state(scope_state* parent) noexcept;
    ~scope_state();
    scope_state(const scope_state&) = delete;
    scope_state& operator=(const scope_state&) = delete;

    /// Returns true if the domain or an outer domain has been canceled.
    bool cancelled() const noexcept { return cancelled_; }
    /// Cancels everything that is pending in this domain and in inner domains, and everything that starts in them
    /// later.
    void cancel() noexcept;

private:
    friend class pending;
    scope_state* parent_;
    scope_state* inner_ = nullptr; // list of inner domains
    scope_state* previous_ = nullptr;
    scope_state* next_ = nullptr;
    pending* first_ = nullptr;
    bool cancelled_ = false;
};

inline void pending::link(scope_state* scope) noexcept {
    scope_ = scope;
    if (!scope) return;
    previous_ = nullptr;
    next_ = scope->first_;
    if (next_) next_->previous_ = this;
    scope->first_ = this;
}

inline void pending::unlink() noexcept {
    if (!scope_) return;
    (previous_ ? previous_->next_ : scope_->first_) = next_;
    if (next_) next_->previous_ = previous_;
    scope_ = nullptr;
}

/// `co_await current_scope{}` returns the domain of the running task.
struct current_scope {
    scope_state* state = nullptr;
    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        state = awaiting.promise().scope;
        return false;
    }
    scope_state& await_resume() const noexcept { return *state; }
};

/// A task that has started. `co_await` returns its result, once. Destroying an unfinished job destroys the task and
/// withdraws its pending operation.
/// Lifetime: the scope or schedule that queued the job must outlive it.
template <class T> class [[nodiscard]] job {
public:
    job(job&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
    job& operator=(job&& other) noexcept {
        std::swap(frame_, other.frame_);
        return *this;
    }
    ~job() {
        if (frame_) frame_.destroy();
    }

    /// Returns true if the task has ended.
    bool done() const noexcept { return frame_.done(); }
    /// Returns what the task returned, or throws what the task threw. Precondition: done(). Call it once.
    T take() { return frame_.promise().take(); }

    struct awaiter {
        std::coroutine_handle<detail::promise<T>> frame;
        bool await_ready() const noexcept { return frame.done(); }
        void await_suspend(std::coroutine_handle<> awaiting) const noexcept { frame.promise().continuation = awaiting; }
        T await_resume() const { return frame.promise().take(); }
    };
    // The job is not itself an awaiter: in `co_await jobs.back()`, GCC 12.2 copies an awaiter that a function
    // returned by reference.
    awaiter operator co_await() const noexcept { return {frame_}; }

    /// Starts `t` in the domain `scope`. The task runs until it first waits.
    static job start(task<T> t, scope_state& scope) {
        job started(t.release());
        started.frame_.promise().scope = &scope;
        started.frame_.resume();
        return started;
    }

private:
    explicit job(std::coroutine_handle<detail::promise<T>> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<detail::promise<T>> frame_;
};

namespace detail {

/// Child tasks, and the frame of the child that ended last. That frame is destroyed only when the next child ends.
/// Some compilers keep the handle of the next coroutine in the frame (clang before 17, GCC without optimization).
/// With them, a coroutine cannot be destroyed from its own final suspension.
class child_frames {
public:
    ~child_frames() {
        bury();
        while (promise_base* child = children_.first()) {
            children_.remove(*child);
            --live_;
            child->self.destroy();
        }
    }
    template <class T> void start(task<T> t, child_owner& owner, scope_state& scope) {
        std::coroutine_handle<promise<T>> frame = t.release();
        promise_base& p = frame.promise();
        p.owner = &owner;
        p.scope = &scope;
        p.self = frame;
        children_.add(p);
        ++live_;
        frame.resume();
    }
    void ended(promise_base& child) noexcept {
        bury();
        children_.remove(child);
        --live_;
        last_ended_ = child.self;
    }
    std::size_t live() const noexcept { return live_; }

private:
    void bury() noexcept {
        if (last_ended_) std::exchange(last_ended_, {}).destroy();
    }
    child_list children_;
    std::size_t live_ = 0;
    std::coroutine_handle<> last_ended_;
};

} // namespace detail

/// Owns child tasks. `spawn()` starts a child, `co_await join()` waits for all children, and `cancel()` cancels what
/// they wait for. Destroying the scope destroys children that are still suspended and withdraws their operations.
/// Threads: only the thread of the schedule.
class scope final : private detail::child_owner {
public:
    /// Creates a domain inside `parent`, which is `co_await current_scope{}` or `MADSchedule::root()`.
    explicit scope(scope_state& parent) noexcept : state_(&parent) {}

    /// Starts a child at once. The child runs until it first waits.
    void spawn(task<void> child) { children_.start(std::move(child), *this, state_); }
    /// Starts a task that the caller joins through its job. cancel() cancels this task too.
    template <class T> job<T> queue(task<T> t) { return job<T>::start(std::move(t), state_); }
    /// Cancels everything that the children and queued tasks wait for.
    void cancel() noexcept { state_.cancel(); }
    /// Returns the number of children that have not ended.
    std::size_t live_children() const noexcept { return children_.live(); }
    /// Returns the cancellation domain of this scope.
    scope_state& state() noexcept { return state_; }

    struct join_awaiter {
        scope& joined;
        bool await_ready() const noexcept { return joined.children_.live() == 0; }
        void await_suspend(std::coroutine_handle<> awaiting) noexcept { joined.joiner_ = awaiting; }
        void await_resume() const {
            if (joined.exception_) std::rethrow_exception(std::exchange(joined.exception_, nullptr));
        }
    };
    /// Waits for all children, then rethrows the first exception of a child. Only one coroutine can join at a time.
    join_awaiter join() noexcept { return {*this}; }

private:
    std::coroutine_handle<> child_done(detail::promise_base& child) noexcept override {
        if (child.exception && !exception_) exception_ = child.exception;
        children_.ended(child);
        if (children_.live() || !joiner_) return std::noop_coroutine();
        return std::exchange(joiner_, {});
    }

    scope_state state_;
    std::coroutine_handle<> joiner_;
    std::exception_ptr exception_;
    detail::child_frames children_; // last, so that it is destroyed first, while the domain still exists
};

} // namespace comad::coro
