// SPDX-License-Identifier: MIT
// coro_combinators_test.cpp - tests of when_all, when_any, with_timeout, events and tickers.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/detail/when_any.hpp>
#include <comad/coro/detail/with_timeout.hpp>
#include <comad/coro/event.hpp>
#include <comad/coro/ticker.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::current_scope;
using coro::event;
using coro::ticker;
using coro::when_all;
using coro::when_any;
using coro::with_timeout;

namespace {

/// Returns `value` after `length`, or -1 if the task was canceled.
task<int> late(MADSchedule& s, mad::duration length, int value) {
    const bool passed = co_await s.pause(length);
    co_return passed ? value : -1;
}
task<void> late_void(MADSchedule& s, mad::duration length) { co_await s.pause(length); }
task<int> throw_late(MADSchedule& s, mad::duration length) {
    co_await s.pause(length);
    throw std::runtime_error("as expected");
}
/// Needs 3 ms to end after its cancellation. Nothing that it awaits after that may be canceled again.
task<int> die_slowly(MADSchedule& s, mad::time_point& ended) {
    coro::scope_state own(nullptr);
    job<int> rest = job<int>::start(late(s, 3ms, 1), own);
    co_await s.pause(mad::duration::max());
    const int value = co_await rest;
    ended = s.now();
    co_return value;
}
task<std::optional<errc>> code_of_answer(MADSchedule& s, IBDRPath to, rpc_options options = {}) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(to, 0, options);
    if (info) co_return std::nullopt;
    co_return info.error().code;
}
task<mad::result<smp::NodeInfo>> node_info(MADSchedule& s, IBDRPath to) {
    co_return co_await s.SubnGet<smp::NodeInfo>(to);
}
task<int> hold_late(MADSchedule& s, mad::duration length, counted) { co_return co_await late(s, length, 1); }

mad::duration elapsed(MADSchedule& s) { return s.now().time_since_epoch(); }

} // namespace

// ---- when_all ----------------------------------------------------------------------------------------------------------

TEST_CASE("when_all returns values of several types in order, after the time of the longest task") {
    rig r;
    const auto text = [](MADSchedule& s) -> task<std::unique_ptr<std::string>> {
        co_await s.pause(1ms);
        co_return std::make_unique<std::string>("text");
    };
    const auto body = [](MADSchedule& s, auto make_text) -> task<void> {
        auto [number, nothing, words, info] =
            co_await when_all(late(s, 5ms, 7), late_void(s, 2ms), make_text(s), node_info(s, route(3)));
        CHECK(number == 7);
        CHECK(nothing == std::monostate{});
        CHECK(*words == "text");
        CHECK((info && is_answer(info.value(), route(3))));
    };
    sync_wait(r.schedule, body(r.schedule, text));
    CHECK(elapsed(r.schedule) == 5ms);
}

TEST_CASE("when_all returns the values of many tasks in order, and returns at once for no tasks") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        std::vector<task<int>> tasks;
        for (int i = 0; i < 100; ++i) tasks.push_back(late(s, std::chrono::milliseconds(100 - i), i));
        const std::vector<int> values = co_await when_all(std::move(tasks));
        REQUIRE(values.size() == 100);
        for (int i = 0; i < 100; ++i) CHECK(values[static_cast<std::size_t>(i)] == i);
        std::vector<task<int>> none;
        const std::vector<int> nothing = co_await when_all(std::move(none));
        CHECK(nothing.empty());
        std::vector<task<void>> voids;
        for (int i = 0; i < 3; ++i) voids.push_back(late_void(s, 50ms));
        co_await when_all(std::move(voids));
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK(elapsed(r.schedule) == 150ms);
}

TEST_CASE("when_all cancels the other tasks after an exception and rethrows when all have ended") {
    rig r;
    mad::time_point ended{};
    bool thrown = false;
    const auto body = [](MADSchedule& s, mad::time_point& e, bool& t) -> task<void> {
        try {
            co_await when_all(die_slowly(s, e), throw_late(s, 1ms));
        } catch (const std::runtime_error& error) {
            t = std::string(error.what()) == "as expected";
        }
        CHECK(elapsed(s) == 3ms);
    };
    sync_wait(r.schedule, body(r.schedule, ended, thrown));
    CHECK(thrown);
    CHECK(ended.time_since_epoch() == 3ms);
}

TEST_CASE("canceling when_all cancels all of its tasks and waits for them") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        scope children(co_await current_scope{});
        std::vector<task<int>> tasks;
        for (int i = 0; i < 3; ++i) tasks.push_back(late(s, 1h, i));
        job<std::vector<int>> all = children.queue(when_all(std::move(tasks)));
        co_await s.pause(1ms);
        children.cancel();
        const std::vector<int> values = co_await all;
        CHECK(values == std::vector<int>{-1, -1, -1});
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK(elapsed(r.schedule) == 1ms);
}

TEST_CASE("destroying a combinator destroys its tasks") {
    rig r;
    census lives;
    {
        std::vector<task<int>> tasks;
        for (int i = 0; i < 3; ++i) tasks.push_back(hold_late(r.schedule, 1h, counted(lives)));
        job<std::vector<int>> all = r.schedule.queue(when_all(std::move(tasks)));
        auto any = r.schedule.queue(when_any(hold_late(r.schedule, 1h, counted(lives)), late_void(r.schedule, 1h)));
        auto timed = r.schedule.queue(with_timeout(r.schedule, 1h, hold_late(r.schedule, 2h, counted(lives))));
        CHECK(lives.live() >= 5);
        CHECK_FALSE(r.schedule.idle());
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

// ---- when_any ----------------------------------------------------------------------------------------------------------

TEST_CASE("when_any returns the first value and its index after the canceled tasks have ended") {
    rig r;
    mad::time_point ended{};
    const auto body = [](MADSchedule& s, mad::time_point& e) -> task<void> {
        auto first = co_await when_any(die_slowly(s, e), late_void(s, 1h), late(s, 2ms, 7), late(s, 3h, 8));
        REQUIRE(first.index() == 2);
        CHECK(std::get<2>(first) == 7);
        CHECK(elapsed(s) == 3ms);
    };
    sync_wait(r.schedule, body(r.schedule, ended));
    CHECK(ended.time_since_epoch() == 3ms);
}

TEST_CASE("when_any of many tasks returns the index, and a task that never waits wins") {
    rig r;
    const auto at_once = [](int value) -> task<int> { co_return value; };
    const auto body = [](MADSchedule& s, auto now) -> task<void> {
        std::vector<task<int>> tasks;
        for (int i = 0; i < 10; ++i) tasks.push_back(late(s, i == 6 ? 1ms : 1h, i));
        const auto first = co_await when_any(std::move(tasks));
        CHECK(first.index == 6);
        CHECK(first.value == 6);
        std::vector<task<int>> others;
        others.push_back(late(s, 1h, 1));
        others.push_back(now(2));
        others.push_back(now(3));
        const auto second = co_await when_any(std::move(others));
        CHECK(second.index == 1);
        CHECK(second.value == 2);
    };
    sync_wait(r.schedule, body(r.schedule, at_once));
    CHECK(elapsed(r.schedule) == 1ms);
}

TEST_CASE("when_any cancels the RPCs of the other tasks, and none of them is retried") {
    rig r([](const packet& p) { return p.bytes[131] == 1 ? answered(p, 1ms) : dropped(); });
    const auto body = [](MADSchedule& s) -> task<void> {
        auto first = co_await when_any(code_of_answer(s, route(0, 0, 2), rpc_options{.timeout = 10ms, .retries = 5}),
                                       code_of_answer(s, route(0, 0, 1), rpc_options{.timeout = 10ms, .retries = 5}));
        CHECK(first.index() == 1);
        CHECK_FALSE(std::get<1>(first));
        CHECK(s.idle());
        co_await s.pause(1s);
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK(r.net.taken().size() == 2);
}

TEST_CASE("when_any rethrows the exception of the first task, and of a canceled task") {
    rig r;
    mad::time_point ended{};
    const auto cancelled_and_throws = [](MADSchedule& s) -> task<int> {
        const bool passed = co_await s.pause(1h);
        if (!passed) throw std::runtime_error("cancelled");
        co_return 1;
    };
    const auto first = [](MADSchedule& s, mad::time_point& e) -> task<void> {
        co_await when_any(throw_late(s, 1ms), die_slowly(s, e));
    };
    const auto second = [](MADSchedule& s, auto other) -> task<void> { co_await when_any(late(s, 1ms, 1), other(s)); };
    CHECK_THROWS_WITH(sync_wait(r.schedule, first(r.schedule, ended)), "as expected");
    CHECK(ended.time_since_epoch() == 3ms);
    CHECK_THROWS_WITH(sync_wait(r.schedule, second(r.schedule, cancelled_and_throws)), "cancelled");
    std::vector<task<int>> none;
    CHECK_THROWS_AS(sync_wait(r.schedule, when_any(std::move(none))), std::invalid_argument);
}

// ---- with_timeout ------------------------------------------------------------------------------------------------------

TEST_CASE("with_timeout returns the value of a task in time without waiting for the timeout") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        const auto value = co_await with_timeout(s, 1h, late(s, 2ms, 7));
        CHECK(value == 7);
        const auto nothing = co_await with_timeout(s, 1h, late_void(s, 2ms));
        CHECK(nothing.has_value());
        CHECK(s.idle());
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK(elapsed(r.schedule) == 4ms);
}

TEST_CASE("with_timeout returns no value after the timeout, when the canceled task has ended") {
    rig r;
    mad::time_point ended{};
    const auto body = [](MADSchedule& s, mad::time_point& e) -> task<void> {
        const auto value = co_await with_timeout(s, 2ms, die_slowly(s, e));
        CHECK_FALSE(value);
        CHECK(elapsed(s) == 3ms);
        CHECK(e == s.now());
    };
    sync_wait(r.schedule, body(r.schedule, ended));
}

TEST_CASE("with_timeout ends an RPC that still retries, and rethrows the exception of its task") {
    rig r(silence);
    const auto body = [](MADSchedule& s) -> task<void> {
        const auto value =
            co_await with_timeout(s, 25ms, code_of_answer(s, route(1), rpc_options{.timeout = 10ms, .retries = 200}));
        CHECK_FALSE(value);
        CHECK(elapsed(s) == 25ms);
        co_await with_timeout(s, 1h, throw_late(s, 1ms));
    };
    CHECK_THROWS_WITH(sync_wait(r.schedule, body(r.schedule)), "as expected");
    CHECK(r.net.taken().size() == 3);
    CHECK(elapsed(r.schedule) == 26ms);
}

TEST_CASE("a canceled with_timeout returns the value of its task") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        scope children(co_await current_scope{});
        job<std::optional<int>> timed = children.queue(with_timeout(s, 1h, late(s, 2h, 1)));
        co_await s.pause(1ms);
        children.cancel();
        const auto value = co_await timed;
        CHECK(value == -1);
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK(elapsed(r.schedule) == 1ms);
}

// ---- events ------------------------------------------------------------------------------------------------------------

namespace {

task<void> wait_and_note(event& e, std::vector<int>& order, int number) {
    const bool set = co_await e.wait();
    order.push_back(set ? number : -number);
}

} // namespace

TEST_CASE("an event resumes all waiting tasks in order, not inline, and later waits complete at once") {
    rig r;
    std::vector<int> order;
    const auto body = [](MADSchedule& s, std::vector<int>& o) -> task<void> {
        event ready(s);
        scope children(co_await current_scope{});
        for (int i = 1; i <= 5; ++i) children.spawn(wait_and_note(ready, o, i));
        co_await s.pause(1ms);
        CHECK(o.empty());
        ready.set();
        CHECK(o.empty());
        ready.reset(); // has no effect on tasks that already wait
        CHECK_FALSE(ready.is_set());
        co_await children.join();
        CHECK(o == std::vector<int>{1, 2, 3, 4, 5});
        children.spawn(wait_and_note(ready, o, 6));
        CHECK(children.live_children() == 1);
        ready.set();
        children.spawn(wait_and_note(ready, o, 7)); // ends at once
        co_await children.join();
        CHECK(o == std::vector<int>{1, 2, 3, 4, 5, 7, 6});
    };
    sync_wait(r.schedule, body(r.schedule, order));
    CHECK(r.schedule.idle());
}

TEST_CASE("canceling one wait for an event does not affect the other waits") {
    rig r;
    std::vector<int> order;
    const auto body = [](MADSchedule& s, std::vector<int>& o) -> task<void> {
        event ready(s);
        scope others(co_await current_scope{}), cancelled(co_await current_scope{});
        others.spawn(wait_and_note(ready, o, 1));
        cancelled.spawn(wait_and_note(ready, o, 2));
        others.spawn(wait_and_note(ready, o, 3));
        cancelled.cancel();
        CHECK(o.empty());
        co_await cancelled.join();
        CHECK(o == std::vector<int>{-2});
        cancelled.spawn(wait_and_note(ready, o, 4)); // in a canceled scope
        ready.set();
        co_await others.join();
    };
    sync_wait(r.schedule, body(r.schedule, order));
    CHECK(order == std::vector<int>{-2, -4, 1, 3});
}

TEST_CASE("an event that was set before a cancellation completes its wait as set") {
    rig r;
    std::vector<int> order;
    const auto body = [](MADSchedule& s, std::vector<int>& o) -> task<void> {
        event ready(s);
        scope children(co_await current_scope{});
        children.spawn(wait_and_note(ready, o, 1));
        ready.set();
        children.cancel();
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, order));
    CHECK(order == std::vector<int>{1});
}

TEST_CASE("destroying a waiting task removes the task from the event, and a set event can be destroyed") {
    rig r;
    std::vector<int> order;
    std::optional<event> ready(std::in_place, r.schedule);
    job<void> first = r.schedule.queue(wait_and_note(*ready, order, 1));
    { job<void> gone = r.schedule.queue(wait_and_note(*ready, order, 2)); }
    ready->set();
    ready.reset();
    r.schedule.settle();
    CHECK(order == std::vector<int>{1});
    CHECK(first.done());
}

TEST_CASE("waiting for an event that no task can set throws std::logic_error") {
    rig r;
    event never(r.schedule);
    std::vector<int> order;
    CHECK_THROWS_AS(sync_wait(r.schedule, wait_and_note(never, order, 1)), std::logic_error);
}

TEST_CASE("two tasks that wake each other do not prevent the driver from receiving") {
    rig r;
    const auto player = [](event& mine, event& other, bool& stop, u64& turns) -> task<void> {
        while (!stop) {
            co_await mine.wait();
            mine.reset();
            ++turns;
            other.set();
        }
    };
    const auto body = [](MADSchedule& s, auto play) -> task<void> {
        event ping(s), pong(s);
        bool stop = false;
        u64 turns = 0;
        scope children(co_await current_scope{});
        children.spawn(play(ping, pong, stop, turns));
        children.spawn(play(pong, ping, stop, turns));
        ping.set();
        bool answered =
            co_await send_query(s, route(1)); // the reply arrives at once, between the resumptions of the tasks
        CHECK(answered);
        stop = true;
        ping.set();
        pong.set();
        co_await children.join();
        CHECK(turns > 0);
    };
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net);
    sync_wait(schedule, body(schedule, player));
}

// ---- tickers -----------------------------------------------------------------------------------------------------------

TEST_CASE("a ticker ticks at once and then every period, regardless of work between the ticks") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        co_await s.pause(3ms);
        ticker ticks(s, 10ms);
        co_await s.pause(4ms); // the first period starts with the first tick
        std::vector<mad::duration> at;
        for (int i = 0; i < 4; ++i) {
            const bool ticked = co_await ticks.next();
            CHECK(ticked);
            at.push_back(elapsed(s));
            co_await s.pause(std::chrono::milliseconds(2 * i));
        }
        CHECK(at == std::vector<mad::duration>{7ms, 17ms, 27ms, 37ms});
        CHECK(ticks.skipped() == 0);
    };
    sync_wait(r.schedule, body(r.schedule));
}

TEST_CASE("a late tick comes at once, and missed ticks are skipped and counted") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        ticker ticks(s, 10ms);
        co_await ticks.next();
        co_await s.pause(35ms);
        co_await ticks.next();
        CHECK(elapsed(s) == 35ms);   // within the period that started at 30 ms
        CHECK(ticks.skipped() == 2); // the ticks at 10 ms and 20 ms
        co_await ticks.next();
        CHECK(elapsed(s) == 40ms);
        co_await s.pause(10ms);
        co_await ticks.next();
        CHECK(elapsed(s) == 50ms);
        CHECK(ticks.skipped() == 2);
    };
    sync_wait(r.schedule, body(r.schedule));
}

TEST_CASE("a canceled ticker returns false, and a period of zero is rejected") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<void> {
        scope children(co_await current_scope{});
        ticker ticks(s, 10ms);
        co_await ticks.next();
        job<bool> next = children.queue(ticks.next());
        children.cancel();
        const bool ticked = co_await next;
        CHECK_FALSE(ticked);
        CHECK(elapsed(s) == 0ms);
    };
    sync_wait(r.schedule, body(r.schedule));
    CHECK_THROWS_AS(ticker(r.schedule, 0ms), std::invalid_argument);
}
