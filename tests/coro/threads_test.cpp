// SPDX-License-Identifier: MIT
// threads_test.cpp - several schedules in several threads, each over its own transport. These tests also run under
// ThreadSanitizer.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/threads.hpp>
#include <comad/transports/sim/transport.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::asio_driver;
using coro::async_run;
using coro::mqueue_report;
namespace sim = transports::sim;

namespace {

constexpr u32 threads = 4, rounds = 5, items_per_round = 300;

task<void> item(MADSchedule& s, u32 number, u64& right) { right += co_await send_query(s, route_to(number)); }
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
    const auto count_replies = [](MADSchedule& s) -> task<u64> {
        u64 got = 0;
        for (u32 i = 0; i < items_per_round; ++i) {
            auto info = co_await s.SubnGet<smp::NodeInfo>(route(1));
            got += info.has_value();
        }
        co_return got;
    };
    return sync_wait(schedule, count_replies(schedule));
}

/// Runs `work` in every thread several times. Returns the sum of its results.
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

TEST_CASE("schedules in several threads are independent") {
    CHECK(everywhere(by_poll) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(by_asio) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(in_virtual_time) == u64{threads} * rounds * items_per_round);
    CHECK(everywhere(in_a_simulated_fabric) == u64{threads} * rounds * items_per_round);
}

TEST_CASE("drivers of all kinds run concurrently") {
    CHECK(everywhere([](u32 t) {
              return t % 4 == 0   ? by_poll(t)
                     : t % 4 == 1 ? by_asio(t)
                     : t % 4 == 2 ? in_virtual_time(t)
                                  : in_a_simulated_fabric(t);
          }) == u64{threads} * rounds * items_per_round);
}

TEST_CASE("schedules in several threads report their own errors") {
    CHECK(everywhere([](u32) {
              memory_transport net;
              net.drop_every = 1;
              MADSchedule schedule(net, {.timeout = 1ms, .retries = 0});
              auto info = sync_wait(schedule, schedule.SubnGet<smp::NodeInfo>(route(1, 4)));
              return u64{to_string(info.error()).ends_with("SMPNodeInfo(17) timed out to 'DR Path (0, 1, 4)'")};
          }) == u64{threads} * rounds);
}

TEST_CASE("a schedule can be created in one thread and driven in another with its tasks and frames") {
    memory_transport net(memory_transport::time::real);
    auto schedule = std::make_unique<MADSchedule>(net);
    census lives;
    const auto hold = [](MADSchedule& s, counted) -> task<bool> { co_return co_await send_query(s, route(1)); };
    std::optional<job<bool>> started(schedule->queue(hold(*schedule, counted(lives))));
    bool right = false;
    std::thread([&] {
        const auto join = [](job<bool>& j) -> task<bool> { co_return co_await j; };
        right = sync_wait(*schedule, join(*started));
        started.reset(); // a frame that the other thread allocated
    }).join();
    CHECK(right);
    CHECK(lives.live() == 0);
    // Frames that the first thread allocates now are not those that the other thread freed.
    CHECK(sync_wait(*schedule, hold(*schedule, counted(lives))));
    CHECK(lives.ghosts() == 0);
}

// ---- stop requests from another thread ------------------------------------------------------------------------------------

TEST_CASE("a stop request from another thread ends a blocking task, and its schedule remains usable") {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net, {.timeout = 1h});
    net.drop_every = 1;
    std::stop_source stop;
    std::atomic<bool> started = false;
    const auto waits = [&]() -> task<mad::result<smp::NodeInfo>> {
        started = true;
        co_return co_await schedule.SubnGet<smp::NodeInfo>(route(1));
    };
    {
        const std::jthread other([&] {
            while (!started) std::this_thread::yield();
            stop.request_stop();
        });
        const auto info = sync_wait(schedule, waits(), stop.get_token());
        REQUIRE(!info);
        CHECK(info.error().code == errc::cancelled);
    }
    const auto at_once = sync_wait(schedule, waits(), stop.get_token());
    REQUIRE(!at_once);
    CHECK(at_once.error().code == errc::cancelled);

    net.drop_every = 0;
    // Uses another target: for an hour a reply of the first target may still arrive.
    CHECK(sync_wait(schedule, send_query(schedule, route(2))));
    CHECK(sync_wait(schedule, send_query(schedule, route(2)), std::stop_token{}));
    CHECK(sync_wait(schedule, send_query(schedule, route(2)), std::stop_source{}.get_token()));
}

TEST_CASE("a task that continues after a stop request does not spin") {
    struct counting final : mad::transport {
        memory_transport net{memory_transport::time::real};
        u64 reads = 0;
        int native_handle() const noexcept override { return net.native_handle(); }
        mad::send_result send(const mad::send_request& r) noexcept override { return net.send(r); }
        mad::received receive(std::span<u8> buffer) noexcept override {
            ++reads;
            return net.receive(buffer);
        }
        mad::transport_limits limits() const noexcept override { return net.limits(); }
    } net;
    MADSchedule schedule(net, {.timeout = 1h});
    std::stop_source stop;
    stop.request_stop();
    // The awaited operation is in the domain of the schedule, and is therefore not canceled.
    const auto lasts = [&]() -> task<bool> { co_return co_await schedule.pause(50ms); };
    job<bool> lasting = schedule.queue(lasts());
    const auto stubborn = [&]() -> task<bool> { co_return co_await lasting; };
    CHECK(sync_wait(schedule, stubborn(), stop.get_token()));
    CHECK(net.reads < 20);
}

TEST_CASE("a task in virtual time sees a stop request") {
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = 4, .timeout = 1ms});
    std::stop_source stop;
    const auto goes_on = [&]() -> task<u64> {
        u64 answers = 0;
        for (;;) {
            const bool right = co_await send_query(schedule, route(1));
            if (!right) co_return answers;
            if (++answers == 10) stop.request_stop();
        }
    };
    CHECK(sync_wait(schedule, goes_on(), stop.get_token()) >= 10);
}

// ---- one schedule per thread with shared work ------------------------------------------------------------------------------

namespace {

/// Schedules over transports that reply at once.
struct crew {
    explicit crew(std::size_t members, schedule_options options = {.max_outstanding = 8, .timeout = 1h}) {
        for (std::size_t i = 0; i < members; ++i) {
            nets.emplace_back(memory_transport::time::real);
            schedules.push_back(&owned.emplace_back(nets.back(), options));
        }
    }
    u64 sent() const {
        u64 sum = 0;
        for (const auto& net : nets) sum += net.sent;
        return sum;
    }
    std::deque<memory_transport> nets;
    std::deque<MADSchedule> owned;
    std::vector<MADSchedule*> schedules;
};

task<mad::result<smp::NodeInfo>> info_of(MADSchedule& s, std::size_t item) {
    co_return co_await s.SubnGet<smp::NodeInfo>(route_to(static_cast<u32>(item)));
}

} // namespace

TEST_CASE("run_in_threads returns values by index, each from its own thread") {
    crew c(3);
    const auto where = [](std::size_t i, MADSchedule& s) -> task<std::pair<std::size_t, std::thread::id>> {
        co_await touch(s, route(1));
        co_return std::pair(i, std::this_thread::get_id());
    };
    const auto values = coro::run_in_threads(c.schedules, where);
    REQUIRE(values.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(values[i].first == i);
    CHECK(values[0].second == std::this_thread::get_id());
    CHECK(values[1].second != values[0].second);
    CHECK(values[2].second != values[0].second);
    CHECK(values[2].second != values[1].second);
    CHECK(coro::run_in_threads(std::span<MADSchedule* const>{}, where).empty());
}

TEST_CASE("run_in_threads cancels all threads after an exception and rethrows when all have ended") {
    crew c(3);
    c.nets[0].drop_every = 1; // its request would wait for an hour
    std::atomic<unsigned> ended = 0;
    const auto run = [&](std::size_t i, MADSchedule& s) -> task<int> {
        co_await touch(s, route(1));
        ++ended;
        if (i > 0) throw std::runtime_error("of rail " + std::to_string(i));
        co_return 0;
    };
    CHECK_THROWS_AS(coro::run_in_threads(c.schedules, run), std::runtime_error);
    CHECK(ended == 3);
}

TEST_CASE("share_items processes every item once and stores its result at its index") {
    for (const std::size_t members : {1u, 2u, 4u}) {
        crew c(members);
        const auto results = coro::share_items(c.schedules, 3000, info_of);
        REQUIRE(results.size() == 3000);
        std::size_t right = 0;
        for (u32 i = 0; i < 3000; ++i)
            right += results[i] && *results[i] && is_answer(results[i]->value(), route_to(i));
        CHECK(right == 3000);
        CHECK(c.sent() == 3000);
    }
    crew c(2);
    CHECK(coro::share_items(c.schedules, 0, info_of).empty());
}

TEST_CASE("a thread that has to wait leaves the shared items to other threads") {
    // A transport whose replies arrive when another thread releases them.
    struct held_back final : mad::transport {
        memory_transport net{memory_transport::time::real};
        std::mutex one_at_a_time;
        int native_handle() const noexcept override { return net.native_handle(); }
        mad::send_result send(const mad::send_request& r) noexcept override {
            const std::lock_guard lock(one_at_a_time);
            return net.send(r);
        }
        mad::received receive(std::span<u8> buffer) noexcept override {
            const std::lock_guard lock(one_at_a_time);
            return net.receive(buffer);
        }
        mad::transport_limits limits() const noexcept override { return net.limits(); }
        std::optional<mad::time_point> next_event() const noexcept override { return std::nullopt; }
        void release() {
            const std::lock_guard lock(one_at_a_time);
            net.release();
        }
    } late;
    late.net.hold();
    memory_transport prompt(memory_transport::time::real);
    const schedule_options options{.max_outstanding = 8, .timeout = 1h};
    MADSchedule waits(late, options), goes_on(prompt, options);
    const std::vector<MADSchedule*> both{&waits, &goes_on};

    std::atomic<std::size_t> held = 0, others = 0;
    const auto item = [&](MADSchedule& s, std::size_t i) -> task<mad::result<smp::NodeInfo>> {
        const bool is_held = &s == &waits;
        const auto release_at_the_end = [&] {
            if (held + others == 1000) late.release();
        };
        held += is_held;
        release_at_the_end();
        auto info = co_await s.SubnGet<smp::NodeInfo>(route_to(static_cast<u32>(i)));
        if (!is_held) ++others;
        release_at_the_end();
        co_return info;
    };
    const auto results = coro::share_items(both, 1000, item);
    std::size_t right = 0;
    for (const auto& r : results) right += r && *r;
    CHECK(right == 1000);
    CHECK(late.net.sent <= 8); // the size of its window
}

TEST_CASE("other threads process the shared items that a failed transport lost") {
    struct failing final : mad::transport {
        memory_transport net{memory_transport::time::real};
        u64 left = 37;
        int native_handle() const noexcept override { return net.native_handle(); }
        mad::send_result send(const mad::send_request& r) noexcept override {
            return left == 0 ? mad::send_result{mad::send_state::failed, EIO} : net.send(r);
        }
        mad::received receive(std::span<u8> buffer) noexcept override {
            if (left == 0) return {mad::receive_state::failed, ENODEV};
            const mad::received r = net.receive(buffer);
            if (r.state == mad::receive_state::message) --left;
            return r;
        }
        mad::transport_limits limits() const noexcept override { return net.limits(); }
    };
    failing broken, broken_too;
    memory_transport sound(memory_transport::time::real);
    const schedule_options options{.max_outstanding = 8, .timeout = 1h};
    MADSchedule first(broken, options), second(sound, options), third(broken_too, options);

    const std::vector<MADSchedule*> all{&first, &second};
    const auto results = coro::share_items(all, 500, info_of);
    std::size_t right = 0;
    for (const auto& r : results) right += r && *r;
    CHECK(right == 500);

    // If no worker is left, the errors stay, and items that were not started have no result.
    const std::vector<MADSchedule*> alone{&third};
    const auto rest = coro::share_items(alone, 500, info_of);
    std::size_t failed = 0, absent = 0;
    for (const auto& r : rest) {
        failed += r && !*r;
        absent += !r;
    }
    CHECK(failed >= 1);
    CHECK(failed <= 16);
    CHECK(absent == 500 - 37 - failed);
}

TEST_CASE("shared items that were not started before a stop request have no result") {
    crew c(2);
    std::stop_source stop;
    std::atomic<std::size_t> done = 0;
    const auto item = [&](MADSchedule& s, std::size_t i) -> task<mad::result<smp::NodeInfo>> {
        auto info = co_await s.SubnGet<smp::NodeInfo>(route_to(static_cast<u32>(i)));
        if (++done == 100) stop.request_stop();
        co_return info;
    };
    const auto results = coro::share_items(c.schedules, 100000, item, stop.get_token());
    std::size_t absent = 0;
    for (const auto& r : results) absent += !r;
    CHECK(absent > 0);
    CHECK(done >= 100);
}
