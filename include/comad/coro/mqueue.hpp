// SPDX-License-Identifier: MIT
// mqueue.hpp - a lazy sequence of tasks that run in parallel, pulled only as the window has room.
// Knows of the schedule only that it asks for the next task.
#pragma once
#include <comad/coro/detail/generator.hpp>
#include <comad/coro/scope.hpp>
#include <comad/mad/error.hpp>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace comad::coro {

class MADSchedule;

/// What to do when a task of an mqueue fails.
enum class on_error : u8 {
    go_on, ///< count it and continue
    stop,  ///< pull no more, cancel what is under way
};
struct mqueue_options {
    on_error policy = on_error::go_on;
    unsigned keep_errors = 8; ///< how many errors the report keeps
    unsigned max_tasks =
        4096; ///< alive at a time: those that wait for something else than a MAD take no room in the window
};

/// What became of an mqueue.
struct mqueue_report {
    u64 finished = 0;                   ///< tasks that ended, failed ones included
    u64 failed = 0;                     ///< of those, tasks that returned an error
    std::vector<mad::mad_error> errors; ///< the first few
    bool stopped = false;               ///< by on_error::stop or cancellation: the sequence was not pulled to its end
};

namespace detail {

/// One sequence that the schedule pulls from; the newest is asked first, so that inner sweeps finish before outer ones
/// go on, and the number of live tasks stays small.
class task_source : protected child_owner {
public:
    enum class pulled : u8 { started, idle, exhausted };
    /// Starts the next task. After `exhausted` the source is unlinked and may be gone.
    virtual pulled pull() noexcept = 0;
    /// The next pull() will say `exhausted`, and needs no room in the window for that.
    virtual bool cancelled() const noexcept = 0;

protected:
    virtual ~task_source() = default;

private:
    friend class comad::coro::MADSchedule;
    task_source* older_ = nullptr;
    task_source* newer_ = nullptr;
};

template <class T> struct is_result : std::false_type {};
template <class T> struct is_result<mad::result<T>> : std::true_type {};

} // namespace detail

/// The awaitable that MADSchedule::mqueue returns; lives in the frame of the task that awaits it.
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
    bool exhausted_ = false; // nothing more to pull
    std::optional<scope_state> scope_;
    detail::child_frames children_; // last: destroyed first, while the domain still stands
};

template <class T> void mqueue_awaiter<T>::note(detail::promise<T>& child) noexcept {
    ++report_.finished;
    if (child.exception) {
        if (!exception_) exception_ = child.exception;
        stop(); // an exception is a defect of ours, not of the fabric
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
