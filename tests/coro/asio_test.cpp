// SPDX-License-Identifier: MIT
// asio_test.cpp - tests of the Asio driver: completion tokens, cancellation, lifetimes and cleanup.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::asio_driver;
using coro::async_run;
using coro::async_SubnGet;
using coro::mqueue_report;
namespace asio = boost::asio;

namespace {

/// An io_context and a schedule that runs on it. By default nothing times out for an hour. Therefore, a timeout cannot
/// hide an operation that should have ended at once.
struct asio_rig {
    explicit asio_rig(schedule_options options = {.timeout = 1h}) : schedule(net, options) {
        driver.emplace(io, schedule);
    }
    operator asio_driver&() { return *driver; }

    /// Runs until no work is left. Only a failing test needs the whole minute.
    void run() {
        io.restart();
        io.run_for(60s);
        REQUIRE(io.stopped());
    }

    asio::io_context io{1};
    memory_transport net{memory_transport::time::real};
    MADSchedule schedule;
    std::optional<asio_driver> driver;
};

task<int> query_many(MADSchedule& s, u32 count) {
    int right = 0;
    scope children(co_await coro::current_scope{});
    const auto one = [](MADSchedule& schedule, u32 number, int& sum) -> task<void> {
        sum += co_await send_query(schedule, route_to(number));
    };
    for (u32 i = 0; i < count; ++i) children.spawn(one(s, i, right));
    co_await children.join();
    co_return right;
}

/// Returns the error code of an RPC, or nothing if it succeeded.
task<std::optional<errc>> outcome_of(MADSchedule& s) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(route(1));
    if (info) co_return std::nullopt;
    co_return info.error().code;
}

task<int> fail_after(MADSchedule& s) {
    co_await touch(s, route(1));
    throw std::runtime_error("as expected");
    co_return 0;
}

} // namespace

// ---- tokens ------------------------------------------------------------------------------------------------------------

TEST_CASE("a callback receives the value of the task, and the io_context then runs out of work") {
    asio_rig r;
    int right = 0;
    async_run(r, query_many(r.schedule, 500), [&](int n) { right = n; });
    CHECK(right == 0); // a handler never runs inside its initiating function
    r.run();
    CHECK(right == 500);
}

TEST_CASE("a task without a value completes a token without a value") {
    asio_rig r;
    bool done = false;
    async_run(r, touch(r.schedule, route(1)), [&] { done = true; });
    r.run();
    CHECK(done);
}

TEST_CASE("a task that never waits completes its token, and not from inside the initiation") {
    asio_rig r;
    const auto at_once = []() -> task<int> { co_return 7; };
    int value = 0;
    async_run(r, at_once(), [&](int n) { value = n; });
    CHECK(value == 0);
    r.run();
    CHECK(value == 7);
}

TEST_CASE("a future receives the value of the task, and movable values are moved") {
    asio_rig r;
    const auto make = [](MADSchedule& s) -> task<std::unique_ptr<int>> {
        const int right = co_await query_many(s, 10);
        co_return std::make_unique<int>(right);
    };
    auto future = async_run(r, make(r.schedule), asio::use_future);
    r.run();
    CHECK(*future.get() == 10);
}

TEST_CASE("an asio::awaitable can await a task") {
    asio_rig r;
    const auto program = [](asio_rig& rig) -> asio::awaitable<int> {
        int right = co_await async_run(rig, query_many(rig.schedule, 20), asio::use_awaitable);
        right += co_await async_run(rig, query_many(rig.schedule, 30), asio::use_awaitable);
        co_return right;
    };
    auto future = asio::co_spawn(r.io, program(r), asio::use_future);
    r.run();
    CHECK(future.get() == 50);
}

TEST_CASE("a deferred operation starts when it gets a token") {
    asio_rig r;
    auto later = async_run(r, query_many(r.schedule, 20), asio::deferred);
    CHECK(r.net.sent == 0);
    int right = 0;
    std::move(later)([&](int n) { right = n; });
    r.run();
    CHECK(right == 20);
}

TEST_CASE("a single RPC is an Asio operation and accepts any token") {
    asio_rig r;
    std::optional<mad::result<smp::NodeInfo>> info;
    async_SubnGet<smp::NodeInfo>(r, route(1, 2), 0, {}, [&](auto answer) { info.emplace(std::move(answer)); });
    auto future =
        async_SubnGet<smp::PortInfo>(r, route(3), 1, rpc_options{.timeout = 1s, .retries = 0}, asio::use_future);
    const auto program = [](asio_rig& rig) -> asio::awaitable<bool> {
        auto answer = co_await async_SubnGet<smp::NodeInfo>(rig, route(4), 0, {}, asio::use_awaitable);
        co_return answer&& is_answer(answer.value(), route(4));
    };
    auto awaited = asio::co_spawn(r.io, program(r), asio::use_future);
    r.run();
    REQUIRE(info);
    REQUIRE(*info);
    CHECK(is_answer(info->value(), route(1, 2)));
    CHECK(future.get());
    CHECK(awaited.get());
}

namespace {

/// An allocator that counts the objects that were not freed.
template <class T> struct counting_allocator {
    using value_type = T;
    int* kept;
    explicit counting_allocator(int& k) : kept(&k) {}
    template <class U> counting_allocator(const counting_allocator<U>& other) : kept(other.kept) {}
    T* allocate(std::size_t n) {
        ++*kept;
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* p, std::size_t n) {
        --*kept;
        std::allocator<T>().deallocate(p, n);
    }
    template <class U> bool operator==(const counting_allocator<U>& other) const { return kept == other.kept; }
};

} // namespace

TEST_CASE("an operation allocates with the allocator of its handler and deallocates before the handler runs") {
    asio_rig r;
    int kept = 0, then = -1, most = 0;
    const auto handler = [&](auto) { then = kept; };
    async_SubnGet<smp::NodeInfo>(r, route(1), 0, {},
                                 asio::bind_allocator(counting_allocator<std::byte>(kept), handler));
    most = kept;
    r.run();
    CHECK(most > 0);
    CHECK(then == 0);
    CHECK(kept == 0);
}

TEST_CASE("a handler runs on its own executor") {
    asio_rig r;
    auto strand = asio::make_strand(r.io);
    bool on_strand = false;
    async_run(r, touch(r.schedule, route(1)),
              asio::bind_executor(strand, [&] { on_strand = strand.running_in_this_thread(); }));
    r.run();
    CHECK(on_strand);
}

TEST_CASE("an exception of a task leaves io_context::run, and the driver continues") {
    asio_rig r;
    int right = 0;
    bool completed = false;
    async_run(r, fail_after(r.schedule), [&](int) { completed = true; });
    async_run(r, query_many(r.schedule, 100), [&](int n) { right = n; });
    CHECK_THROWS_WITH(r.run(), "as expected");
    r.run();
    CHECK(!completed);
    CHECK(right == 100);
}

// ---- running -----------------------------------------------------------------------------------------------------------

TEST_CASE("an Asio driver without operations lets io_context::run return") {
    asio_rig r;
    r.run();
    CHECK(r.net.sent == 0);
}

TEST_CASE("io_context::run can be called again for another operation") {
    asio_rig r;
    for (int round = 0; round < 5; ++round) {
        int right = 0;
        async_run(r, query_many(r.schedule, 100), [&](int n) { right = n; });
        r.run();
        CHECK(right == 100);
    }
}

TEST_CASE("several Asio operations run concurrently") {
    asio_rig r({.max_outstanding = 4, .timeout = 1h});
    int right = 0;
    for (int i = 0; i < 10; ++i) async_run(r, query_many(r.schedule, 50), [&](int n) { right += n; });
    r.run();
    CHECK(right == 500);
}

TEST_CASE("the Asio driver runs operations that start in the handler of the last operation") {
    asio_rig r;
    // Two requests that are in flight at the end get their replies together. The driver then plans another run while it
    // stops waiting.
    int rounds = 0, right = 0;
    const std::function<void(int)> next = [&](int n) {
        right += n;
        if (++rounds < 100) async_run(r, query_many(r.schedule, 1 + static_cast<u32>(rounds) % 3), next);
    };
    async_run(r, query_many(r.schedule, 2), next);
    r.run();
    CHECK(rounds == 100);
    CHECK(right == 2 + 33 * (1 + 2 + 3));
}

TEST_CASE("the Asio driver receives replies for an operation that started in the handler of the last one") {
    asio_rig r;
    int right = 0;
    asio::steady_timer under_way(r.io);
    // Two replies arrive at once. The driver plans another run at once, and has stopped waiting by then.
    async_run(r, query_many(r.schedule, 2), [&](int) {
        r.net.hold();
        async_run(r, query_many(r.schedule, 3), [&](int n) { right = n; });
        under_way.expires_after(1ms);
        under_way.async_wait([&](auto) { r.net.release(); });
    });
    r.run();
    CHECK(right == 3);
}

TEST_CASE("the Asio driver retries lost MADs after their timeout") {
    asio_rig r({.max_outstanding = 16, .timeout = 2ms, .retries = 20});
    r.net.drop_every = 10;
    int right = 0;
    async_run(r, query_many(r.schedule, 300), [&](int n) { right = n; });
    r.run();
    CHECK(right == 300);
    CHECK(r.schedule.counters().retried >= 30);
}

TEST_CASE("an operation on an unresponsive fabric times out under the Asio driver") {
    asio_rig r({.timeout = 1ms, .retries = 2});
    r.net.drop_every = 1;
    std::optional<errc> code;
    async_run(r, outcome_of(r.schedule), [&](auto c) { code = c; });
    r.run();
    CHECK(code == errc::timed_out);
    CHECK(r.net.sent == 3);
}

TEST_CASE("the Asio driver rejects a transport without a descriptor with an error message") {
    asio::io_context io;
    memory_transport net;
    MADSchedule schedule(net);
    CHECK_THROWS_WITH(asio_driver(io, schedule), Catch::Contains("virtual time") && Catch::Contains("sync_wait"));
}

// ---- cancelling --------------------------------------------------------------------------------------------------------

TEST_CASE("a cancellation slot cancels the pending wait of a task at once") {
    asio_rig r;
    r.net.drop_every = 1;
    asio::cancellation_signal signal;
    std::optional<errc> code;
    async_run(r, outcome_of(r.schedule), asio::bind_cancellation_slot(signal.slot(), [&](auto c) { code = c; }));
    asio::post(r.io, [&] { signal.emit(asio::cancellation_type::terminal); });
    r.run();
    CHECK(code == errc::cancelled);
}

TEST_CASE("canceling a sweep ends the sweep at once and does not affect another operation") {
    asio_rig r({.timeout = 50ms, .retries = 0});
    r.net.drop_every = 1;
    const auto many = [](MADSchedule& s) -> generator<task<void>> {
        for (u32 i = 0; i < 1000; ++i) co_yield touch(s, route_to(i), rpc_options{.timeout = 1h, .retries = 0});
    };
    const auto sweep = [](auto make, MADSchedule& s) -> task<mqueue_report> { co_return co_await s.mqueue(make(s)); };
    asio::cancellation_signal signal;
    std::optional<mqueue_report> report;
    std::optional<errc> other;
    async_run(r, outcome_of(r.schedule), [&](auto c) { other = c; });
    async_run(r, sweep(many, r.schedule),
              asio::bind_cancellation_slot(signal.slot(), [&](mqueue_report s) { report = std::move(s); }));
    asio::steady_timer soon(r.io, 1ms);
    soon.async_wait([&](auto) { signal.emit(asio::cancellation_type::terminal); });
    r.run();
    REQUIRE(report);
    CHECK(report->stopped);
    CHECK(report->finished < 1000);
    CHECK(other == errc::timed_out);
}

TEST_CASE("a cancellation signal in or after the handler has no effect") {
    asio_rig r;
    asio::cancellation_signal signal;
    int right = 0;
    async_run(r, query_many(r.schedule, 10), asio::bind_cancellation_slot(signal.slot(), [&](int n) {
                  right = n;
                  signal.emit(asio::cancellation_type::terminal);
              }));
    r.run();
    signal.emit(asio::cancellation_type::terminal);
    CHECK(right == 10);
}

TEST_CASE("a cancellation signal between the end of a task and its handler has no effect") {
    asio_rig r;
    asio::cancellation_signal signal;
    int value = 0;
    const auto at_once = []() -> task<int> { co_return 7; };
    async_run(r, at_once(), asio::bind_cancellation_slot(signal.slot(), [&](int n) { value = n; }));
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(value == 7);
}

TEST_CASE("a cancellation in a posted handler takes effect when the driver is woken") {
    asio_rig r;
    r.net.drop_every = 1;
    std::optional<errc> code;
    async_run(r, outcome_of(r.schedule), [&](auto c) { code = c; });
    asio::post(r.io, [&] {
        r.schedule.root().cancel();
        r.driver->wake();
    });
    r.run();
    CHECK(code == errc::cancelled);
}

// ---- lifetimes ---------------------------------------------------------------------------------------------------------

TEST_CASE("a driver can be destroyed after its operations ended while the io_context runs on") {
    asio_rig r;
    r.driver.reset();
    const auto program = [](asio_rig& rig) -> asio::awaitable<int> {
        int right = 0;
        for (u32 i = 0; i < 10; ++i) {
            asio_driver driver(rig.io, rig.schedule);
            right += co_await async_run(driver, query_many(rig.schedule, 1 + i % 3), asio::use_awaitable);
        }
        // Now the handlers run that the destroyed drivers left in the io_context.
        asio::steady_timer later(rig.io, 1ms);
        co_await later.async_wait(asio::use_awaitable);
        co_return right;
    };
    auto future = asio::co_spawn(r.io, program(r), asio::use_future);
    r.run();
    CHECK(future.get() == 19);
}

TEST_CASE("destroying an Asio driver destroys its unfinished operations") {
    asio_rig r({.per_destination = 2});
    r.net.drop_every = 1;
    census lives;
    const auto hold = [](MADSchedule& s, counted) -> task<void> { co_await touch(s, route(1)); };
    bool completed = false;
    const counted handlers(lives);
    asio::cancellation_signal signal;
    async_run(r, hold(r.schedule, counted(lives)), [&completed, handlers] { completed = true; });
    async_run(r, hold(r.schedule, counted(lives)),
              asio::bind_cancellation_slot(signal.slot(), [&, handlers] { completed = true; }));
    r.io.poll();
    CHECK(r.schedule.in_flight() == 2);
    r.driver.reset();
    CHECK(r.schedule.idle());
    CHECK(lives.live() == 1);
    signal.emit(asio::cancellation_type::terminal);
    r.run();
    CHECK(!completed);
    CHECK(lives.ghosts() == 0);
}

TEST_CASE("a driver can be destroyed between the end of a task and its handler") {
    asio_rig r;
    bool completed = false;
    const auto at_once = []() -> task<void> { co_return; };
    async_run(r, at_once(), [&] { completed = true; });
    r.driver.reset();
    r.run();
    CHECK(!completed);
}

TEST_CASE("an io_context can be stopped and destroyed while operations are in flight") {
    census lives;
    const auto hold = [](MADSchedule& s, counted) -> task<void> { co_await touch(s, route(1)); };
    {
        asio_rig r;
        r.net.drop_every = 1;
        async_run(r, hold(r.schedule, counted(lives)), [] {});
        const auto program = [](asio_rig& rig) -> asio::awaitable<void> {
            co_await async_run(rig, query_many(rig.schedule, 3), asio::use_awaitable);
        };
        asio::co_spawn(r.io, program(r), asio::detached);
        asio::post(r.io, [&] { r.io.stop(); });
        r.io.run();
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

TEST_CASE("a schedule has the current time before the first turn of its driver") {
    const auto before = std::chrono::steady_clock::now();
    const asio_rig r;
    CHECK(r.schedule.now() >= before);
}
