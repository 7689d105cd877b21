// SPDX-License-Identifier: MIT
// scope.hpp - structured concurrency: jobs that are joined, scopes that own children and cancel what they wait for.
// Knows no driver and no MAD.
#pragma once
#include <comad/coro/task.hpp>

#include <cstddef>

namespace comad::coro {

/// Something that a scope can cancel: an operation that is under way. Linked while pending.
class pending {
public:
    pending(const pending&) = delete;
    pending& operator=(const pending&) = delete;
    /// Makes the operation end soon as cancelled; not from inside this call.
    virtual void cancel() noexcept = 0;

protected:
    pending() = default;
    virtual ~pending() { unlink(); }
    void link(scope_state* scope) noexcept;
    void unlink() noexcept;
    /// Where it is linked; null: nowhere.
    scope_state* linked_in() const noexcept { return scope_; }

private:
    friend class scope_state;
    scope_state* scope_ = nullptr;
    pending* previous_; // in the scope's list, while scope_ is set
    pending* next_;
};

/// A cancellation domain: the operations pending in it and the domains inside it. A task is in the domain of the task
/// that awaits it; scopes open new ones.
class scope_state {
public:
    explicit scope_state(scope_state* parent) noexcept;
    ~scope_state();
    scope_state(const scope_state&) = delete;
    scope_state& operator=(const scope_state&) = delete;

    bool cancelled() const noexcept { return cancelled_; }
    /// Cancels all that is pending here and in inner domains, and whatever is begun here later.
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

/// `co_await current_scope{}` gives the domain that the running task is in.
struct current_scope {
    scope_state* state = nullptr;
    bool await_ready() const noexcept { return false; }
    template <class Awaiting> bool await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
        state = awaiting.promise().scope;
        return false;
    }
    scope_state& await_resume() const noexcept { return *state; }
};

/// A started task. `co_await` gives its result (once); destroying an unfinished job destroys the task and withdraws what
/// it waits for. Must not outlive the scope or schedule that queued it.
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

    bool done() const noexcept { return frame_.done(); }
    /// The result of a finished job: what the task returned, or throws what it threw. Precondition: done(), once.
    T take() { return frame_.promise().take(); }

    struct awaiter {
        std::coroutine_handle<detail::promise<T>> frame;
        bool await_ready() const noexcept { return frame.done(); }
        void await_suspend(std::coroutine_handle<> awaiting) const noexcept { frame.promise().continuation = awaiting; }
        T await_resume() const { return frame.promise().take(); }
    };
    // Not an awaitable itself: GCC 12.2 copies what a function returned by reference, as in `co_await jobs.back()`.
    awaiter operator co_await() const noexcept { return {frame_}; }

    /// Starts `t` in the domain `scope`; it runs until it waits for something.
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

/// Children and the frame of the last one that ended. That frame is destroyed only when the next one ends: a coroutine
/// cannot be destroyed from its own final suspension where the compiler keeps the successor's handle in the frame
/// (clang before 17, GCC without optimisation).
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

/// Owns child tasks. `spawn` starts them, `co_await join()` waits for all, `cancel()` ends what they wait for; leaving
/// the scope destroys children that are still suspended, and with them withdraws their operations. One thread.
class scope final : private detail::child_owner {
public:
    /// A domain inside `parent`: `co_await current_scope{}` or `MADSchedule::root()`.
    explicit scope(scope_state& parent) noexcept : state_(&parent) {}

    /// Starts a child at once; it runs until it waits for something.
    void spawn(task<void> child) { children_.start(std::move(child), *this, state_); }
    /// Starts a task that is joined by name but is cancelled with this scope.
    template <class T> job<T> queue(task<T> t) { return job<T>::start(std::move(t), state_); }
    void cancel() noexcept { state_.cancel(); }
    std::size_t live_children() const noexcept { return children_.live(); }
    scope_state& state() noexcept { return state_; }

    struct join_awaiter {
        scope& joined;
        bool await_ready() const noexcept { return joined.children_.live() == 0; }
        void await_suspend(std::coroutine_handle<> awaiting) noexcept { joined.joiner_ = awaiting; }
        void await_resume() const {
            if (joined.exception_) std::rethrow_exception(std::exchange(joined.exception_, nullptr));
        }
    };
    /// Waits for all children. Rethrows the first exception that one of them threw. One joiner at a time.
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
    detail::child_frames children_; // last: destroyed first, while the domain still stands
};

} // namespace comad::coro
