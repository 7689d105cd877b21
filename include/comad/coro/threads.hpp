// SPDX-License-Identifier: MIT
// threads.hpp - runs several schedules, each in its own thread, and shares work between them.
// It depends on no MAD and no transport.
#pragma once
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace comad::coro {

/// Runs the task `make(i, *schedules[i])` for each schedule in its own thread. Returns the values of the tasks by
/// index. If there is only one schedule, it runs in the calling thread. Guard data that tasks of different schedules
/// share, and hold no lock while a task waits.
/// Errors:  if a task throws, the other tasks are canceled. When all tasks have ended, throws the exception of the
///          task with the lowest index.
/// Cancel:  `stop` cancels the operations that the tasks wait for. The tasks still end.
/// Threads: do not use the schedules elsewhere meanwhile. `make` runs in the thread of its schedule.
template <class Make>
auto run_in_threads(std::span<MADSchedule* const> schedules, Make make, std::stop_token stop = {}) {
    using value = decltype(sync_wait(*schedules[0], make(std::size_t{}, *schedules[0])));
    std::stop_source all;
    const std::stop_callback forward(std::move(stop), [&all] { all.request_stop(); });
    std::vector<std::optional<value>> values(schedules.size());
    std::vector<std::exception_ptr> thrown(schedules.size());
    const auto run = [&](std::size_t i) {
        try {
            values[i].emplace(sync_wait(*schedules[i], make(i, *schedules[i]), all.get_token()));
        } catch (...) {
            thrown[i] = std::current_exception();
            all.request_stop();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < schedules.size(); ++i) others.emplace_back([&run, i] { run(i); });
        if (!schedules.empty()) run(0);
    }
    for (const std::exception_ptr& e : thrown)
        if (e) std::rethrow_exception(e);
    std::vector<value> result;
    for (std::optional<value>& v : values) result.push_back(std::move(*v));
    return result;
}

namespace detail {

/// One sweep over all remaining items, by all schedules that are still usable.
template <class Value, class Make> class shared_sweep {
public:
    shared_sweep(std::size_t items, Make make) : make_(std::move(make)), results_(items), left_(items) {
        for (std::size_t i = 0; i < items; ++i) left_[i] = i;
    }

    // The other schedules repeat the items that a failed transport lost. They repeat them in a new pass, because all
    // of them may have ended before the failure.
    std::vector<std::optional<Value>> run(std::span<MADSchedule* const> all, const std::stop_token& stop) {
        std::vector<MADSchedule*> schedules(all.begin(), all.end());
        while (!left_.empty() && !schedules.empty() && !stop.stop_requested()) {
            taken_ = 0;
            run_in_threads(
                schedules, [this](std::size_t, MADSchedule& s) { return sweep(s); }, stop);
            std::erase_if(left_, [&](std::size_t item) { return results_[item] && !is_lost(*results_[item]); });
            if (std::erase_if(schedules, [](MADSchedule* s) { return s->transport_failed(); }) == 0) break;
        }
        return std::move(results_);
    }

private:
    static bool is_lost(const Value& v) {
        return !v && (v.error().code == mad::errc::transport_failed || v.error().code == mad::errc::send_failed);
    }
    task<bool> sweep(MADSchedule& schedule) {
        const mqueue_report swept = co_await schedule.mqueue(items(schedule));
        co_return !swept.stopped;
    }
    generator<task<void>> items(MADSchedule& schedule) {
        while (!schedule.transport_failed()) {
            const std::size_t next = taken_.fetch_add(1, std::memory_order_relaxed);
            if (next >= left_.size()) co_return;
            co_yield one(schedule, left_[next]);
        }
    }
    task<void> one(MADSchedule& schedule, std::size_t item) {
        Value value = co_await make_(schedule, item);
        results_[item].emplace(std::move(value));
    }

    Make make_;
    std::vector<std::optional<Value>> results_; // by item; one thread writes each element
    std::vector<std::size_t> left_;
    std::atomic<std::size_t> taken_{0}; // the number of elements of left_ that are taken
};

/// The type of the value of a task.
template <class T> struct value_of_task;
template <class T> struct value_of_task<task<T>> {
    using type = T;
};

} // namespace detail

/// Runs the task `make(schedule, item)`, which returns a mad::result, for every item from 0 to `items` - 1. The next
/// schedule with space in its window takes the next item. Each schedule runs in its own thread. Returns the results
/// by item.
/// Errors:  the results contain the errors of their items. If a transport fails, the other schedules repeat the items
///          that it lost. If no schedule is left, the result of a lost item is the error, and items that did not
///          start have no result. Throws what run_in_threads() throws.
/// Cancel:  after `stop`, items that did not start have no result.
/// Threads: `make` runs in the thread of its schedule, and can run in several threads at the same time.
template <class Make>
auto share_items(std::span<MADSchedule* const> schedules, std::size_t items, Make make, std::stop_token stop = {}) {
    using value = typename detail::value_of_task<decltype(make(std::declval<MADSchedule&>(), std::size_t{}))>::type;
    return detail::shared_sweep<value, Make>(items, std::move(make)).run(schedules, stop);
}

} // namespace comad::coro
