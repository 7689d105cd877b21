// SPDX-License-Identifier: MIT
// discover.cpp - runs the rounds of a discovery: one worker in a task, or several workers with one thread each.
#include "worker.hpp"
#include <comad/coro/threads.hpp>
#include <comad/discovery/walk/node_sequence.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace comad::discovery {

using coro::MADSchedule;
using coro::task;

task<bool> run_rounds(discovery_worker& only, subnet_builder& builder) {
    for (;;) {
        const bool is_whole = co_await only.run();
        builder.order_from(only.start(), only.start_port());
        if (!is_whole) co_return false;
        const std::vector<node_query> pending = builder.take_pending();
        if (pending.empty()) co_return true;
        only.add(pending);
    }
}

namespace {

/// Resumes tasks that wait for nodes, however the discovery ends.
struct end_of_nodes {
    node_sequence* nodes;
    ~end_of_nodes() {
        if (nodes) nodes->end();
    }
};

/// Returns false if it was stopped. Errors: the local port did not reply.
task<mad::result<bool>> fill(subnet_builder& builder, MADSchedule& schedule) {
    discovery_worker only(schedule, builder, 0);
    auto first = co_await only.query_start();
    if (!first) co_return std::move(first.error());
    only.begin(first.value());
    co_return co_await run_rounds(only, builder);
}

} // namespace

task<mad::result<subnet>> discover(MADSchedule& schedule, discover_options options) {
    const end_of_nodes at_the_end{options.found};
    subnet_builder::settings settings{.retries_timeouts = is_measured(schedule)};
    std::optional<subnet_builder> builder(std::in_place, options, settings);
    auto is_whole = co_await fill(*builder, schedule);
    if (is_whole && is_whole.value() && builder->has_duplicate_lids()) {
        settings.end = builder->end();
        options.from_lid = {};
        builder.emplace(options, settings);
        is_whole = co_await fill(*builder, schedule);
    }
    if (!is_whole) co_return std::move(is_whole.error());
    co_return builder->finish(!is_whole.value());
}

namespace {

using worker_list = std::vector<discovery_worker*>;

/// Runs a member function of each worker in its own thread.
template <class Member> auto run_all(const worker_list& workers, Member what, const std::stop_token& stop) {
    std::vector<MADSchedule*> schedules;
    for (const discovery_worker* w : workers) schedules.push_back(&w->schedule());
    return coro::run_in_threads(
        schedules, [&](std::size_t i, MADSchedule&) { return (workers[i]->*what)(); }, stop);
}

void remove_failed(worker_list& workers, subnet_builder& builder) {
    for (const discovery_worker* w : workers)
        if (w->schedule().transport_failed())
            builder.local_port_failed(
                w->start(), w->start_port(),
                fmt::format("the device of local port #{} failed during the discovery", w->number()));
    std::erase_if(workers, [](const discovery_worker* w) { return w->has_failed(); });
}

/// Works as run_rounds() of worker.hpp. All workers take part in the first round. One worker sends the pending queries, because they are
/// few.
bool run_rounds(worker_list& workers, subnet_builder& builder, const std::stop_token& stop) {
    bool is_whole = true;
    for (;;) {
        for (const bool ended : run_all(workers, &discovery_worker::run, stop)) is_whole = is_whole && ended;
        remove_failed(workers, builder);
        if (workers.empty() || !is_whole) return is_whole;
        workers.resize(1);
        builder.order_from(workers[0]->start(), workers[0]->start_port());
        const std::vector<node_query> pending = builder.take_pending();
        if (pending.empty()) return is_whole;
        workers[0]->add(pending);
    }
}

} // namespace

mad::result<subnet> discover_multi_port(std::span<MADSchedule* const> schedules, discover_options options,
                                        std::stop_token stop) {
    const bool retries = std::ranges::all_of(schedules, [](const MADSchedule* s) { return is_measured(*s); });
    options.from_lid = {};
    options.found = nullptr;
    subnet_builder builder(options, {.has_several_workers = schedules.size() > 1, .retries_timeouts = retries});
    std::deque<discovery_worker> all;
    worker_list workers;
    for (MADSchedule* s : schedules) workers.push_back(&all.emplace_back(*s, builder, static_cast<u32>(all.size())));

    // All starts must be known before a worker continues: otherwise one could be found as a neighbor first.
    auto starts = run_all(workers, &discovery_worker::query_start, stop);
    std::erase_if(workers, [&](const discovery_worker* w) { return !starts[w->number()]; });
    if (workers.empty()) return std::move(starts.front().error());
    for (discovery_worker* w : workers) w->begin(starts[w->number()].value());
    const discovery_worker& first = *workers.front();
    for (std::size_t i = 0; i < starts.size(); ++i)
        if (!starts[i])
            builder.local_port_failed({}, 0, fmt::format("local port #{}: {}", i, to_string(starts[i].error())));

    const bool is_whole = run_rounds(workers, builder, stop);
    builder.order_from(first.start(), first.start_port());
    return builder.finish(!is_whole);
}

} // namespace comad::discovery
