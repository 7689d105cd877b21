// SPDX-License-Identifier: MIT
// mqueue.hpp - mqueue: runs a lazy sequence of tasks in parallel, and starts the next one only when the window has space.
// It depends on the schedule only for pulling the next task.
#pragma once
#include <comad/coro/detail/generator.hpp>
#include <comad/coro/scope.hpp>
#include <comad/mad/error.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace comad::coro {

class MADSchedule;

/// Selects what an mqueue does if a task fails.
enum class on_error : u8 {
    go_on, ///< count the error and continue
    stop,  ///< start no more tasks and cancel the running ones
};
/// Options of an mqueue.
struct mqueue_options {
    on_error policy = on_error::go_on;
    unsigned keep_errors = 8; ///< the largest number of errors in the report
    unsigned max_tasks =
        4096; ///< tasks alive at a time; tasks that wait for something other than a MAD take no space in the window
};

/// The result of an mqueue.
struct mqueue_report {
    u64 finished = 0;                   ///< tasks that ended, including failed ones
    u64 failed = 0;                     ///< tasks that returned an error
    std::vector<mad::mad_error> errors; ///< the first mqueue_options::keep_errors errors
    bool stopped = false;               ///< on_error::stop or a cancellation ended the sequence early
};

namespace detail {

/// A sequence from which the schedule pulls tasks. The schedule pulls from the newest source first. Thus inner sweeps
/// finish before outer ones continue, and the number of live tasks stays small.
class task_source : protected child_owner {
public:
    enum class pulled : u8 { started, idle, exhausted };
    /// Starts the next task. If it returns `exhausted`, the source is unlinked and may have been destroyed.
    virtual pulled pull() noexcept = 0;
    /// Returns true if the next pull() will return `exhausted`. That pull() needs no space in the window.
    virtual bool cancelled() const noexcept = 0;

protected:
    virtual ~task_source() = default;

private:
    friend class comad::coro::MADSchedule;
    task_source* older_ = nullptr;
    task_source* newer_ = nullptr;
};

/// Whether T is a mad::result.
template <class T> struct is_result : std::false_type {};
template <class T> struct is_result<mad::result<T>> : std::true_type {};

} // namespace detail

/// The awaitable that MADSchedule::mqueue returns. It lives in the frame of the awaiting task.
template <class T> class [[nodiscard]] mqueue_awaiter final : private detail::task_source, private pending {
    static_assert(std::is_void_v<T> || detail::is_result<T>::value, "tasks of an mqueue return void or a mad::result");

public:
    mqueue_awaiter(MADSchedule& schedule, generator<task<T>> tasks, mqueue_options options) noexcept
        : schedule_(schedule), tasks_(std::move(tasks)), options_(options) {}
    mqueue_awaiter(const mqueue_awaiter&) = delete;
    mqueue_awaiter& operator=(const mqueue_awaiter&) = delete;
    ~mqueue_awaiter() override { leave(); }

    bool await_ready() const noexcept { return false; }
    template <class Awaiting> void await_suspend(std::coroutine_handle<Awaiting> awaiting);
    mqueue_report await_resume() {
        if (exception_) std::rethrow_exception(exception_);
        return std::move(report_);
    }

private:
    pulled pull() noexcept override;
    bool cancelled() const noexcept override { return scope_->cancelled(); }
    void cancel() noexcept override;
    std::coroutine_handle<> child_done(detail::promise_base& child) noexcept override;
    void leave() noexcept;
    void note(detail::promise<T>& child) noexcept;
    void stop() noexcept {
        report_.stopped = true;
        scope_->cancel();
    }

    MADSchedule& schedule_;
    generator<task<T>> tasks_;
    mqueue_options options_;
    mqueue_report report_;
    std::coroutine_handle<> awaiting_;
    std::exception_ptr exception_;
    bool joined_ = false;    // in the schedule's list of sources
    bool exhausted_ = false; // no more tasks to pull
    std::optional<scope_state> scope_;
    detail::child_frames children_; // last, so that it is destroyed first, while the domain still exists
};

template <class T> void mqueue_awaiter<T>::note(detail::promise<T>& child) noexcept {
    ++report_.finished;
    if (child.exception) {
        if (!exception_) exception_ = child.exception;
        stop(); // an exception is a programming error, not a failure of the fabric
        return;
    }
    if constexpr (!std::is_void_v<T>) {
        if (child.value->has_value()) return;
        ++report_.failed;
        if (report_.errors.size() < options_.keep_errors) report_.errors.push_back(std::move(child.value->error()));
        if (options_.policy == on_error::stop) stop();
    }
}

template <class T> std::coroutine_handle<> mqueue_awaiter<T>::child_done(detail::promise_base& child) noexcept {
    note(static_cast<detail::promise<T>&>(child));
    children_.ended(child);
    return exhausted_ && children_.live() == 0 ? awaiting_ : std::noop_coroutine();
}

} // namespace comad::coro
