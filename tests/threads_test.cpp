// SPDX-License-Identifier: MIT
// threads_test.cpp - several schedules in several threads, each over its own transport. Under ThreadSanitizer.
#include "coro_rig.hpp"
#include "memory_transport.hpp"
#include <comad/coro/asio.hpp>
#include <comad/transports/sim/transport.hpp>

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::asio_driver;
using coro::async_run;
using coro::sweep_report;
namespace sim = transports::sim;

namespace {

constexpr u32 threads = 4, rounds = 5, items_per_round = 300;

task<void> item(MADSchedule& s, u32 number, u64& right) { right += co_await ask(s, route_to(number)); }
generator<task<void>> items(MADSchedule& s, u64& right) {
    for (u32 i = 0; i < items_per_round; ++i) co_yield item(s, i, right);
}
task<u64> sweep(MADSchedule& s) {
    u64 right = 0;
    co_await s.mqueue(items(s, right));
    co_return right;
}

u64 by_poll(u32) {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net, {.max_outstanding = 16});
    return sync_wait(schedule, sweep(schedule));
}
u64 in_virtual_time(u32) {
    memory_transport net;
    net.drop_every = 5;
    MADSchedule schedule(net, {.max_outstanding = 16, .timeout = 1ms, .retries = 20});
    return sync_wait(schedule, sweep(schedule));
}
u64 by_asio(u32) {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net, {.max_outstanding = 16});
    boost::asio::io_context io{1};
    asio_driver driver(io, schedule);
    u64 right = 0;
    async_run(driver, sweep(schedule), [&](u64 n) { right = n; });
    io.run();
    return right;
}
u64 in_a_simulated_fabric(u32 seed) {
    sim::simulation net =
        sim::make_sim("ring,switches=4,loss=0.02,seed=" + std::to_string(1 + seed), sim::time_mode::virtual_);
    MADSchedule schedule(*net.transport, {.timeout = 1ms, .retries = 20});
    const auto hears = [](MADSchedule& s) -> task<u64> {
        u64 heard = 0;
        for (u32 i = 0; i < items_per_round; ++i) {
            auto info = co_await s.SubnGet<smp::NodeInfo>(route(1));
            heard += info.has_value();
        }
        co_return heard;
    };
    return sync_wait(schedule, hears(schedule));
}

/// Runs `work` in every thread, some times over; the sum of what it gave.
template <class Work> u64 everywhere(Work work) {
    std::vector<u64> sums(threads);
    std::vector<std::thread> running;
    for (u32 t = 0; t < threads; ++t) {
        running.emplace_back([&sum = sums[t], t, work] {
            for (u32 round = 0; round < rounds; ++round) sum += work(t);
        });
    }
    for (std::thread& t : running) t.join();
    u64 sum = 0;
    for (u64 s : sums) sum += s;
    return sum;
}

} // namespace

TEST_CASE("schedules in several threads do not know of each other") {
    CHECK(everywhere(by_poll) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(by_asio) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(in_virtual_time) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(in_a_simulated_fabric) == u64{threads} * rounds * items_per_round);
}

TEST_CASE("drivers of all kinds run side by side") {
    CHECK(everywhere([](u32 t) {
              return t % 4 == 0   ? by_poll(t)
                     : t % 4 == 1 ? by_asio(t)
                     : t % 4 == 2 ? in_virtual_time(t)
                                  : in_a_simulated_fabric(t);
          }) == u64{threads} * rounds * items_per_round);
}

TEST_CASE("errors in several threads are told by each") {
    CHECK(everywhere([](u32) {
              memory_transport net;
              net.drop_every = 1;
              MADSchedule schedule(net, {.timeout = 1ms, .retries = 0});
              auto info = sync_wait(schedule, schedule.SubnGet<smp::NodeInfo>(route(1, 4)));
              return u64{to_string(info.error()).ends_with("SMPNodeInfo(17) timed out to 'DR Path (0, 1, 4)'")};
          }) == u64{threads} * rounds);
}

TEST_CASE("a schedule may be made in one thread and driven, with its tasks and frames, in another") {
    memory_transport net(memory_transport::time::real);
    auto schedule = std::make_unique<MADSchedule>(net);
    census lives;
    const auto hold = [](MADSchedule& s, counted) -> task<bool> { co_return co_await ask(s, route(1)); };
    std::optional<job<bool>> begun(schedule->queue(hold(*schedule, counted(lives))));
    bool right = false;
    std::thread([&] {
        const auto join = [](job<bool>& j) -> task<bool> { co_return co_await j; };
        right = sync_wait(*schedule, join(*begun));
        begun.reset(); // a frame of the other thread's
    }).join();
    CHECK(right);
    CHECK(lives.live() == 0);
    // Frames that the first thread allocates now are not those that the other one has freed.
    CHECK(sync_wait(*schedule, hold(*schedule, counted(lives))));
    CHECK(lives.ghosts() == 0);
}
