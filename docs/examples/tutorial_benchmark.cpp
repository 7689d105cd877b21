// SPDX-License-Identifier: MIT
// tutorial_benchmark.cpp - the program of tutorial 3, which measures MADs per second. Lines with //> show what it prints.
#include <comad/discovery.hpp>
#include <comad/fabric/open_fabric.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

using namespace comad;
using done = mad::result<void>;

/// The round-trip time of each MAD, the number of failed requests, and the time of the whole run.
struct measurement {
    std::vector<mad::duration> round_trips{};
    u64 failed = 0;
    mad::duration total{};
};

/// Measures the time from the call to the reply. It includes the wait for other requests to the same node.
static coro::task<done> query(coro::MADSchedule& schedule, mad::IBDRPath path, measurement& result) {
    const mad::time_point start = schedule.now();
    BOOST_OUTCOME_CO_TRYV(co_await schedule.SubnGet<iba::smp::NodeInfo>(path));
    result.round_trips.push_back(schedule.now() - start);
    co_return mad::success();
}

static coro::generator<coro::task<done>>
requests(coro::MADSchedule& schedule, const std::vector<mad::IBDRPath>& targets, unsigned count, measurement& result) {
    for (unsigned round = 0; round < count; ++round)
        for (const mad::IBDRPath& target : targets) co_yield query(schedule, target, result);
}

static coro::task<measurement> measure(coro::MADSchedule& schedule, const std::vector<mad::IBDRPath>& targets,
                                       unsigned count) {
    measurement result;
    const mad::time_point start = schedule.now();
    const coro::mqueue_report report = co_await schedule.mqueue(requests(schedule, targets, count, result));
    result.total = schedule.now() - start;
    result.failed = report.failed;
    co_return result;
}

static void show(const char* what, measurement m) {
    std::sort(m.round_trips.begin(), m.round_trips.end());
    const auto us_at = [&](double share) {
        const auto index = static_cast<std::size_t>(share * static_cast<double>(m.round_trips.size() - 1));
        return mad::in_seconds(m.round_trips[index]) * 1e6;
    };
    const double rate = static_cast<double>(m.round_trips.size()) / mad::in_seconds(m.total);
    fmt::print("{}: {:.0f} MADs/ms, median {:.0f} us, 99 % {:.0f} us, {} failed\n", what, rate / 1000, us_at(0.5),
               us_at(0.99), m.failed);
}

/// Measures 10,000 requests on a new simulated fabric, with a schedule that has these options.
static measurement measure_on(const char* text, coro::schedule_options options, bool all_nodes) {
    auto fabric = open_fabric(text, {}, options).value();
    coro::MADSchedule& schedule = fabric.schedule();
    std::vector<mad::IBDRPath> targets{mad::IBDRPath{}.extended(1)};
    if (all_nodes) {
        const auto found = fabric.run(discovery::discover(schedule));
        targets.clear();
        for (const discovery::node& node : found.value().nodes) targets.push_back(node.route);
    }
    return fabric.run(measure(schedule, targets, 10'000 / static_cast<unsigned>(targets.size())));
}

int main() {
    // An SMA handles one SMP in 4 us. Each cable has a latency of 1 us.
    const char* const fabric = "sim:fattree2,radix=8,service=4us,latency=1us,time=virtual";
    show("one at a time", measure_on(fabric, {.max_outstanding = 1}, false));
    show("a window of 2", measure_on(fabric, {.max_outstanding = 2, .per_destination = 0}, false));
    show("a window of 8", measure_on(fabric, {.max_outstanding = 8, .per_destination = 0}, false));
    //> one at a time: 167 MADs/ms, median 6 us, 99 % 6 us, 0 failed
    //> a window of 2: 250 MADs/ms, median 8 us, 99 % 8 us, 0 failed
    //> a window of 8: 250 MADs/ms, median 32 us, 99 % 32 us, 0 failed

    show("all nodes, 1", measure_on(fabric, {.max_outstanding = 1}, true));
    show("all nodes, 16", measure_on(fabric, {.max_outstanding = 16}, true));
    show("all nodes, 64", measure_on(fabric, {.max_outstanding = 64}, true));
    show("all nodes, adaptive", measure_on(fabric, {}, true));
    //> all nodes, 1: 93 MADs/ms, median 12 us, 99 % 12 us, 0 failed
    //> all nodes, 16: 1490 MADs/ms, median 12 us, 99 % 12 us, 0 failed
    //> all nodes, 64: 3667 MADs/ms, median 204 us, 99 % 240 us, 0 failed
    //> all nodes, adaptive: 3653 MADs/ms, median 894 us, 99 % 1328 us, 0 failed

    show("1 % lost each way",
         measure_on("sim:fattree2,radix=8,service=4us,latency=1us,loss=0.01,time=virtual", {}, true));
    //> 1 % lost each way: 2501 MADs/ms, median 1056 us, 99 % 1998 us, 0 failed
}
