// SPDX-License-Identifier: MIT
// discover.cpp - the rounds of a discovery: by one rail as a task, by several in as many threads.
#include "rail.hpp"
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

task<bool> explore_all(rail& only, subnet_builder& all) {
    for (;;) {
        const bool is_whole = co_await only.explore();
        all.order_from(only.start(), only.start_port());
        if (!is_whole) co_return false;
        std::vector<smp_query> left = all.take_up_left();
        if (left.empty()) co_return true;
        only.add(std::move(left));
    }
}

namespace {

/// However the discovery ends, who waits for its nodes hears of it.
struct end_of_nodes {
    node_sequence* nodes;
    ~end_of_nodes() {
        if (nodes) nodes->end();
    }
};

/// Whether nothing cut it off; an error: there was no beginning.
task<mad::result<bool>> explore(MADSchedule& schedule, subnet_builder& all) {
    rail only(schedule, all, 0);
    auto first = co_await only.ask_start();
    if (!first) co_return std::move(first.error());
    only.begin(first.value());
    co_return co_await explore_all(only, all);
}

} // namespace

task<mad::result<subnet>> discover(MADSchedule& schedule, discover_options options) {
    const end_of_nodes at_the_end{options.found};
    std::optional<subnet_builder> all(std::in_place, options, false, is_measured(schedule));
    auto is_whole = co_await explore(schedule, *all);
    if (is_whole && is_whole.value() && all->has_doubled_lids()) {
        const std::optional<mad::time_point> end = all->end();
        options.from_lid = {};
        all.emplace(options, false, is_measured(schedule));
        if (end) all->ends_at(*end);
        is_whole = co_await explore(schedule, *all);
    }
    if (!is_whole) co_return std::move(is_whole.error());
    co_return all->finish(!is_whole.value());
}

namespace {

/// Runs a member function of rails, each in its thread.
template <class Member> auto run_all(const std::vector<rail*>& rails, Member what, const std::stop_token& stop) {
    std::vector<MADSchedule*> schedules;
    for (const rail* r : rails) schedules.push_back(&r->schedule());
    return coro::run_in_threads(
        schedules, [&](std::size_t i, MADSchedule&) { return (rails[i]->*what)(); }, stop);
}

} // namespace

mad::result<subnet> discover_rails(std::span<MADSchedule* const> schedules, discover_options options,
                                   std::stop_token stop) {
    const bool asks_twice = std::ranges::all_of(schedules, [](const MADSchedule* s) { return is_measured(*s); });
    options.from_lid = {};
    options.found = nullptr;
    subnet_builder all(options, schedules.size() > 1, asks_twice);
    std::deque<rail> rails;
    std::vector<rail*> active;
    for (MADSchedule* s : schedules) active.push_back(&rails.emplace_back(*s, all, static_cast<u32>(rails.size())));

    // All starts are known before anybody goes on: none is found by another rail and thereby lost as a beginning.
    auto starts = run_all(active, &rail::ask_start, stop);
    std::erase_if(active, [&](const rail* r) { return !starts[static_cast<std::size_t>(r->number())]; });
    if (active.empty()) return std::move(starts.front().error());
    for (rail* r : active) r->begin(starts[r->number()].value());
    const rail& first = *active.front();
    for (std::size_t i = 0; i < starts.size(); ++i)
        if (!starts[i]) all.rail_failed({}, 0, fmt::format("local port #{}: {}", i, to_string(starts[i].error())));

    bool is_whole = true;
    for (;;) {
        for (const bool ended : run_all(active, &rail::explore, stop)) is_whole = is_whole && ended;
        for (const rail* r : active)
            if (r->schedule().transport_failed())
                all.rail_failed(r->start(), r->start_port(),
                                fmt::format("the device of local port #{} failed during the discovery", r->number()));
        std::erase_if(active, [](const rail* r) { return r->has_failed(); });
        if (active.empty() || !is_whole) break;
        active.resize(1); // what is left is little
        all.order_from(active[0]->start(), active[0]->start_port());
        std::vector<smp_query> left = all.take_up_left();
        if (left.empty()) break;
        active[0]->add(std::move(left));
    }
    all.order_from(first.start(), first.start_port());
    return all.finish(!is_whole);
}

} // namespace comad::discovery
