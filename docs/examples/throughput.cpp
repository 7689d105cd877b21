// SPDX-License-Identifier: MIT
// throughput.cpp - how many MADs one node answers, by the window: the sketch of a benchmark ('ibtool bench' is the
// whole one). It prints what the comments say.
#include <comad/coro.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

using namespace comad;
using iba::smp::NodeInfo;

static coro::task<mad::result<void>> request(coro::MADSchedule& schedule, mad::IBDRPath path) {
    BOOST_OUTCOME_CO_TRYV(co_await schedule.SubnGet<NodeInfo>(path));
    co_return boost::outcome_v2::success();
}

static coro::generator<coro::task<mad::result<void>>> requests(coro::MADSchedule& schedule, mad::IBDRPath path,
                                                               unsigned count) {
    for (unsigned i = 0; i < count; ++i) co_yield request(schedule, path);
}

static coro::task<double> measure(coro::MADSchedule& schedule, mad::IBDRPath path, unsigned count) {
    const mad::time_point begin = schedule.now();
    const coro::mqueue_report done = co_await schedule.mqueue(requests(schedule, path, count));
    co_return static_cast<double>(done.finished - done.failed) / mad::in_seconds(schedule.now() - begin);
}

int main() {
    // The SMA of the leaf switch handles an SMP in 4 us. The cable to it has a latency of 1 us in each direction.
    auto subnet = transports::sim::make_sim("fattree2,radix=8,service=4us,latency=1us,time=virtual");
    const mad::IBDRPath leaf = mad::IBDRPath{}.extended(1);
    for (const unsigned window : {1u, 2u, 4u}) {
        coro::MADSchedule schedule(*subnet.transport, {.max_outstanding = window, .per_destination = 0});
        const double rate = coro::sync_wait(schedule, measure(schedule, leaf, 10'000));
        fmt::print("window {}: {:.0f} MADs/ms\n", window, rate / 1000);
    }
    //> window 1: 167 MADs/ms
    //> window 2: 250 MADs/ms
    //> window 4: 250 MADs/ms
}
