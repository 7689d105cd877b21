// SPDX-License-Identifier: MIT
// threads.hpp - several schedules at once, each driven by a thread of its own, and work that they share.
// Knows no MAD and no transport.
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

/// Runs `make(i, *schedules[i])`, a task<T> each, to their ends, every one in a thread of its own, and gives their values by
/// index. A single one runs in the calling thread. Tasks of different schedules meet in what they share: guard it, and hold
/// no lock while a task waits.
/// Errors:  throws what the first of the tasks, by index, has thrown, once all have ended; the others are cancelled then.
/// Cancel:  `stop` cancels what the tasks wait for; they still end.
/// Threads: the schedules must not be used elsewhere meanwhile. `make` is called in the schedule's thread.
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

/// One sweep over the items that are left, by all schedules that can still be used.
template <class Value, class Make> class shared_sweep {
public:
    shared_sweep(std::size_t items, Make make) : make_(std::move(make)), results_(items), left_(items) {
        for (std::size_t i = 0; i < items; ++i) left_[i] = i;
    }

    // What a transport lost when it failed is done again by the others: they may all have ended before.
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
    std::vector<std::optional<Value>> results_; // by item; one thread writes each
    std::vector<std::size_t> left_;
    std::atomic<std::size_t> taken_{0}; // of left_
};

template <class T> struct value_of_task;
template <class T> struct value_of_task<task<T>> {
    using type = T;
};

} // namespace detail

/// Runs `make(schedule, item)`, a task that gives a mad::result, for every item below `items`. Each item is taken by the
/// schedule that next has room in its window, each schedule runs in a thread of its own; the results come by item.
/// Errors:  of items are in their results. What a transport that fails loses is done by the other schedules; without any
///          left, the error of the failure stays, or nothing where the item was not begun. Throws as run_in_threads().
/// Cancel:  after `stop`, items that were not begun have no result.
/// Threads: `make` is called in the schedule's thread, possibly in several at once.
template <class Make>
auto share_items(std::span<MADSchedule* const> schedules, std::size_t items, Make make, std::stop_token stop = {}) {
    using value = typename detail::value_of_task<decltype(make(std::declval<MADSchedule&>(), std::size_t{}))>::type;
    return detail::shared_sweep<value, Make>(items, std::move(make)).run(schedules, stop);
}

} // namespace comad::coro
