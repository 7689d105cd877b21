// SPDX-License-Identifier: MIT
// coro_mqueue_test.cpp - tests of lazy sequences of tasks: when tasks are pulled, nested sequences, failures and ends.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::mqueue_options;
using coro::mqueue_report;
using coro::on_error;
using mad::result;

namespace {

/// Counts what a sweep did.
struct tally {
    u64 pulled = 0;
    u64 right = 0;
    census lives;
};

task<result<void>> item(MADSchedule& s, u32 number, tally& t, counted) {
    const IBDRPath to = route_to(number);
    BOOST_OUTCOME_CO_TRY(auto info, co_await s.SubnGet<smp::NodeInfo>(to));
    t.right += is_answer(info, to);
    co_return mad::success();
}
generator<task<result<void>>> items(MADSchedule& s, u32 first, u32 count, tally& t) {
    for (u32 i = 0; i < count; ++i) {
        ++t.pulled;
        co_yield item(s, first + i, t, counted(t.lives));
    }
}
task<mqueue_report> sweep(MADSchedule& s, u32 count, tally& t, mqueue_options options = {}) {
    co_return co_await s.mqueue(items(s, 0, count, t), options);
}

} // namespace

// ---- pulling ---------------------------------------------------------------------------------------------------------

TEST_CASE("every task of a sequence runs once and returns its own result") {
    const unsigned window = GENERATE(1u, 2u, 16u, 256u);
    rig r(schedule_options{.max_outstanding = window});
    tally t;
    const mqueue_report report = sync_wait(r.schedule, sweep(r.schedule, 5000, t));
    CHECK(report.finished == 5000);
    CHECK(report.failed == 0);
    CHECK(!report.stopped);
    CHECK(t.right == 5000);
    CHECK(t.lives.live() == 0);
    CHECK(t.lives.ghosts() == 0);
}

TEST_CASE("a sequence of 400,000 tasks keeps hardly more tasks alive than the window allows") {
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = 256});
    tally t;
    const mqueue_report report = sync_wait(schedule, sweep(schedule, 400'000, t));
    CHECK(report.finished == 400'000);
    CHECK(t.right == 400'000);
    CHECK(t.lives.peak() >= 256);
    CHECK(t.lives.peak() <= 256 + 3); // one task that just ended, and two copies of a moving parameter
    CHECK(t.lives.live() == 0);
}

TEST_CASE("a sequence is pulled only while the window has room") {
    rig r(silence, {.max_outstanding = 4, .timeout = 1ms, .retries = 0});
    tally t;
    const auto watch = [](MADSchedule& s, tally& all) -> task<void> {
        job<mqueue_report> running = s.queue(sweep(s, 10, all));
        CHECK(all.pulled == 0); // the driver pulls tasks, not the task that requests them
        co_await touch(s, route_to(99), rpc_options{.timeout = 500us, .retries = 0});
        CHECK(all.pulled == 3); // this RPC occupied one of the slots
        co_await running;
    };
    sync_wait(r.schedule, watch(r.schedule, t));
    CHECK(t.pulled == 10);
}

TEST_CASE("the window also bounds tasks that do not wait for a MAD") {
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = 16});
    tally t;
    const auto pauses = [](MADSchedule& s, tally& all) -> generator<task<result<void>>> {
        const auto one = [](MADSchedule& on, tally& its, u32 number, counted mine) -> task<result<void>> {
            co_await on.pause(1ms);
            co_return co_await item(on, number, its, mine);
        };
        for (u32 i = 0; i < 100'000; ++i) co_yield one(s, all, i, counted(all.lives));
    };
    const unsigned most = GENERATE(1u, 100u, mqueue_options{}.max_tasks);
    const auto body = [most](auto make, MADSchedule& s, tally& all) -> task<mqueue_report> {
        co_return co_await s.mqueue(make(s, all), {.max_tasks = most});
    };
    CHECK(sync_wait(schedule, body(pauses, schedule, t)).finished == 100'000);
    CHECK(t.right == 100'000);
    CHECK(t.lives.peak() >= most);
    CHECK(t.lives.peak() <= 3 * most + 3); // each task holds its item and the item's argument
}

TEST_CASE("tasks for one node accumulate only up to a limit") {
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = 16});
    tally t;
    const auto same_node = [](MADSchedule& s, tally& all) -> generator<task<result<void>>> {
        for (int i = 0; i < 20000; ++i) co_yield item(s, 7, all, counted(all.lives));
    };
    const auto body = [](auto make, MADSchedule& s, tally& all) -> task<mqueue_report> {
        co_return co_await s.mqueue(make(s, all));
    };
    CHECK(sync_wait(schedule, body(same_node, schedule, t)).finished == 20000);
    CHECK(t.right == 20000);
    CHECK(t.lives.peak() <= 300);
}

TEST_CASE("ten thousand empty sequences end without growing the stack") {
    rig r;
    tally t;
    const auto body = [](MADSchedule& s, tally& all) -> task<u64> {
        u64 finished = 0;
        for (int i = 0; i < 10000; ++i) {
            auto report = co_await s.mqueue(items(s, 0, 0, all));
            finished += report.finished;
        }
        co_return finished;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule, t)) == 0);
    CHECK(r.net.offered() == 0);
}

TEST_CASE("a sequence of tasks that complete at once is pulled to its end") {
    rig r;
    const auto at_once = []() -> task<void> { co_return; };
    const auto many = [](auto make) -> generator<task<void>> {
        for (int i = 0; i < 100'000; ++i) co_yield make();
    };
    const auto body = [](auto tasks, auto make, MADSchedule& s) -> task<mqueue_report> {
        co_return co_await s.mqueue(tasks(make));
    };
    CHECK(sync_wait(r.schedule, body(many, at_once, r.schedule)).finished == 100'000);
}

// ---- nesting ---------------------------------------------------------------------------------------------------------

namespace {

/// Reads a node, then sweeps its 36 ports.
task<result<void>> node_and_ports(MADSchedule& s, u32 number, tally& t, counted mine) {
    BOOST_OUTCOME_CO_TRY(auto info, co_await s.SubnGet<smp::NodeInfo>(route_to(number)));
    (void)info;
    (void)mine;
    const auto report = co_await s.mqueue(items(s, 100'000 + 36 * number, 36, t));
    if (report.finished != 36 || report.failed) throw std::runtime_error("a port is missing");
    co_return mad::success();
}
generator<task<result<void>>> nodes_and_ports(MADSchedule& s, u32 count, tally& t) {
    for (u32 i = 0; i < count; ++i) co_yield node_and_ports(s, i, t, counted(t.lives));
}
task<mqueue_report> nested(MADSchedule& s, u32 count, tally& t) {
    co_return co_await s.mqueue(nodes_and_ports(s, count, t));
}

} // namespace

TEST_CASE("nested sequences neither deadlock in a window of one nor keep many tasks alive in a large window") {
    const unsigned window = GENERATE(1u, 16u, 64u);
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = window});
    tally t;
    const mqueue_report report = sync_wait(schedule, nested(schedule, 5000, t));
    CHECK(report.finished == 5000);
    CHECK(report.failed == 0);
    CHECK(t.right == 5000 * 36);
    // The scheduler runs the newest tasks first. One window of outer tasks starts when the inner tasks of the previous
    // window all run. A parameter that is being moved counts twice. With the oldest first, all 5000 would exist at
    // once.
    CAPTURE(window, t.lives.peak());
    CHECK(t.lives.peak() <= 4 * window + 10);
    CHECK(t.lives.live() == 0);
    CHECK(t.lives.ghosts() == 0);
}

TEST_CASE("sequences can be nested to any depth") {
    rig r(schedule_options{.max_outstanding = 3});
    struct tree {
        static task<void> visit(MADSchedule& s, IBDRPath to, int depth, u64& right) {
            auto info = co_await s.SubnGet<smp::NodeInfo>(to);
            right += info && is_answer(info.value(), to);
            if (depth > 0) co_await s.mqueue(children(s, to, depth - 1, right));
        }
        static generator<task<void>> children(MADSchedule& s, IBDRPath to, int depth, u64& right) {
            for (u8 port : {1, 2, 3, 4}) co_yield visit(s, to.extended(port), depth, right);
        }
    };
    u64 right = 0;
    sync_wait(r.schedule, tree::visit(r.schedule, IBDRPath{}, 6, right));
    CHECK(right == 1 + 4 + 16 + 64 + 256 + 1024 + 4096);
}

// ---- idling ----------------------------------------------------------------------------------------------------------

TEST_CASE("an idle sequence is pulled again after an event, and other tasks run meanwhile") {
    rig r(schedule_options{.max_outstanding = 4});
    struct work { // each reply creates more work, as in a discovery
        std::deque<u32> todo{1};
        u64 request_count = 0, running = 0, right = 0;
        static task<void> visit(MADSchedule& s, work& w, u32 number) {
            const IBDRPath to = route_to(number);
            auto info = co_await s.SubnGet<smp::NodeInfo>(to);
            w.right += info && is_answer(info.value(), to);
            if (number < 500) w.todo.insert(w.todo.end(), {2 * number, 2 * number + 1});
            --w.running;
        }
        static generator<task<void>> visits(MADSchedule& s, work& w) {
            while (!w.todo.empty() || w.running) {
                ++w.request_count;
                if (w.todo.empty()) {
                    co_yield task<void>();
                    continue;
                }
                ++w.running;
                const u32 next = w.todo.front();
                w.todo.pop_front();
                co_yield visit(s, w, next);
            }
        }
        static task<mqueue_report> all(MADSchedule& s, work& w) { co_return co_await s.mqueue(visits(s, w)); }
    };
    work w;
    const mqueue_report report = sync_wait(r.schedule, work::all(r.schedule, w));
    CHECK(report.finished == 999);
    CHECK(w.right == 999);
    CHECK(w.request_count < 3 * 999); // no busy loop
}

TEST_CASE("an idle inner sequence does not block the outer sequence") {
    rig r(schedule_options{.max_outstanding = 4});
    bool released = false;
    const auto until = [](bool& flag) -> generator<task<void>> {
        while (!flag) co_yield task<void>();
    };
    const auto release = [](MADSchedule& s, bool& flag) -> task<void> {
        co_await touch(s, route_to(1));
        flag = true;
    };
    const auto outer_items = [](MADSchedule& s, auto wait, auto open, bool& flag) -> generator<task<void>> {
        const auto inner = [](MADSchedule& schedule, auto g) -> task<void> { co_await schedule.mqueue(std::move(g)); };
        co_yield inner(s, wait(flag));
        co_yield open(s, flag);
    };
    const auto body = [=](MADSchedule& s, bool& flag) -> task<mqueue_report> {
        co_return co_await s.mqueue(outer_items(s, until, release, flag));
    };
    CHECK(sync_wait(r.schedule, body(r.schedule, released)).finished == 2);
}

TEST_CASE("a sequence that stays idle forever is an error instead of a hang") {
    rig r;
    const auto for_ever = []() -> generator<task<void>> {
        for (;;) co_yield task<void>();
    };
    const auto body = [](auto make, MADSchedule& s) -> task<void> { co_await s.mqueue(make()); };
    CHECK_THROWS_AS(sync_wait(r.schedule, body(for_ever, r.schedule)), std::logic_error);
}

// ---- failing ---------------------------------------------------------------------------------------------------------

TEST_CASE("a sequence counts failures and keeps the first few") {
    rig r([](const packet& p) { return p.bytes[131] % 10 == 3 ? dropped() : answered(p); },
          {.max_outstanding = 1, .timeout = 1ms, .retries = 0});
    tally t;
    const mqueue_report report = sync_wait(r.schedule, sweep(r.schedule, 200, t, {.keep_errors = 3}));
    CHECK(report.finished == 200);
    CHECK(report.failed == 20);
    CHECK(t.right == 180);
    CHECK(!report.stopped);
    REQUIRE(report.errors.size() == 3);
    for (u32 i = 0; i < 3; ++i) {
        CHECK(report.errors[i].code == errc::timed_out);
        REQUIRE(report.errors[i].detail);
        CHECK(report.errors[i].detail->path == mad::any_path{route_to(3 + 10 * i)});
    }
}

TEST_CASE("a sequence that stops on errors pulls no more tasks after an error and cancels running tasks") {
    rig r([](const packet& p) { return p.bytes[131] == 50 ? refused(EINVAL) : answered(p, 1ms); },
          {.max_outstanding = 8, .timeout = 10ms});
    tally t;
    const mqueue_report report = sync_wait(r.schedule, sweep(r.schedule, 200, t, {.policy = on_error::stop}));
    CHECK(report.stopped);
    CHECK(t.pulled <= 50 + 8 + 1);
    CHECK(report.finished == t.pulled);
    CHECK(report.failed == t.pulled - t.right);
    CHECK(report.failed <= 8 + 1); // the refused task freed its slot in the window for another task
    REQUIRE(!report.errors.empty());
    CHECK(report.errors[0].code == errc::send_failed);
    for (std::size_t i = 1; i < report.errors.size(); ++i) CHECK(report.errors[i].code == errc::cancelled);
    CHECK(t.lives.live() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("stopping one sequence does not affect other sequences") {
    rig r([](const packet& p) { return p.bytes[131] == 50 ? refused(EINVAL) : answered(p); });
    tally stopped, other;
    const auto untouched = [](MADSchedule& s, tally& t) -> task<mqueue_report> {
        co_return co_await s.mqueue(items(s, 1 << 16, 40, t));
    };
    const auto body = [](auto second, MADSchedule& s, tally& a, tally& b) -> task<u64> {
        job<mqueue_report> first = s.queue(sweep(s, 200, a, {.policy = on_error::stop}));
        job<mqueue_report> also = s.queue(second(s, b));
        co_await first;
        auto report = co_await also;
        co_return report.finished;
    };
    CHECK(sync_wait(r.schedule, body(untouched, r.schedule, stopped, other)) == 40);
    CHECK(other.right == 40);
}

TEST_CASE("an exception of a task cancels the other tasks and reaches the awaiter of the sequence") {
    rig r([](const packet& p) { return p.bytes[131] == 50 ? answered(p) : answered(p, 1s); }, {.max_outstanding = 8});
    tally t;
    const auto throws = [](MADSchedule& s, counted) -> task<result<void>> {
        co_await touch(s, route_to(50));
        throw std::runtime_error("as expected");
    };
    const auto mixed = [](auto bad, MADSchedule& s, tally& all) -> generator<task<result<void>>> {
        for (u32 i = 0; i < 1000; ++i) {
            if (i == 3) co_yield bad(s, counted(all.lives));
            else co_yield item(s, 100, all, counted(all.lives));
        }
    };
    const auto body = [](auto make, auto bad, MADSchedule& s, tally& all) -> task<void> {
        co_await s.mqueue(make(bad, s, all));
    };
    CHECK_THROWS_WITH(sync_wait(r.schedule, body(mixed, throws, r.schedule, t)), "as expected");
    CHECK(t.lives.live() == 0);
    CHECK(t.lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("an exception of the sequence itself reaches its awaiter after the tasks ended") {
    rig r;
    tally t;
    const auto broken = [](MADSchedule& s, tally& all) -> generator<task<result<void>>> {
        for (u32 i = 0; i < 5; ++i) co_yield item(s, i, all, counted(all.lives));
        throw std::runtime_error("as expected");
    };
    const auto body = [](auto make, MADSchedule& s, tally& all) -> task<void> { co_await s.mqueue(make(s, all)); };
    CHECK_THROWS_WITH(sync_wait(r.schedule, body(broken, r.schedule, t)), "as expected");
    CHECK(t.lives.live() == 0);
    CHECK(r.schedule.idle());
}

// ---- other ends ------------------------------------------------------------------------------------------------------

TEST_CASE("destroying the awaiter of a sequence destroys its tasks, withdraws their MADs and frees the sequence") {
    const unsigned turns = GENERATE(0u, 1u, 5u);
    rig r([](const packet& p) { return p.bytes[131] < 4 ? answered(p) : dropped(); }, {.max_outstanding = 8});
    tally t;
    const auto nested_too = [](MADSchedule& s, tally& all) -> task<mqueue_report> {
        co_return co_await nested(s, 1000, all);
    };
    {
        job<mqueue_report> first = r.schedule.queue(sweep(r.schedule, 1000, t));
        job<mqueue_report> second = r.schedule.queue(nested_too(r.schedule, t));
        for (unsigned i = 0; i < turns; ++i) {
            r.net.set_now(r.net.next_event().value_or(r.net.now()));
            r.schedule.set_now(r.net.now());
            r.schedule.receive(100);
            r.schedule.settle();
        }
        CHECK((turns == 0) == (t.lives.live() == 0));
    }
    CHECK(t.lives.live() == 0);
    CHECK(t.lives.ghosts() == 0);
    CHECK(r.schedule.idle());
    CHECK(!r.schedule.settle()); // no source is left to pull
}

TEST_CASE("a task can destroy the sweep that a sibling awaits") {
    rig r([](const packet& p) { return p.bytes[131] == 1 ? answered(p) : dropped(); }, {.max_outstanding = 8});
    tally t;
    const auto body = [](MADSchedule& s, tally& all) -> task<void> {
        std::optional<job<mqueue_report>> doomed(s.queue(sweep(s, 1000, all)));
        co_await touch(s, route_to(1));
        CHECK(all.lives.live() > 0);
        doomed.reset();
        CHECK(all.lives.live() == 0);
        co_await touch(s, route_to(1));
    };
    sync_wait(r.schedule, body(r.schedule, t));
    CHECK(t.lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("a canceled sequence ends at once, even if other tasks keep the window full") {
    rig r([](const packet& p) { return answered(p, 100us); }, {.max_outstanding = 2, .per_destination = 0});
    struct load { // sends more RPCs than the window allows, one after the other, until it must stop
        static task<void> run(MADSchedule& s, u32 number, const bool& go_on) {
            while (go_on) co_await touch(s, route_to(number));
        }
    };
    tally never_started;
    const auto body = [](MADSchedule& s, tally& t) -> task<void> {
        bool go_on = true;
        scope background(co_await coro::current_scope{});
        for (u32 i = 0; i < 6; ++i) background.spawn(load::run(s, i, go_on));
        scope starved(co_await coro::current_scope{});
        job<mqueue_report> hopeless = starved.queue(sweep(s, 10, t));
        for (int i = 0; i < 100; ++i) co_await touch(s, route_to(100));
        CHECK(t.pulled == 0); // the load is heavy enough to block the sequence
        starved.cancel();
        co_await touch(s, route_to(100));
        CHECK(hopeless.done());
        go_on = false;
        auto report = co_await hopeless;
        CHECK(report.stopped);
        co_await background.join();
    };
    sync_wait(r.schedule, body(r.schedule, never_started));
}

TEST_CASE("a sequence that starts in a canceled scope is never pulled") {
    rig r;
    tally t;
    r.schedule.root().cancel();
    const mqueue_report report = sync_wait(r.schedule, sweep(r.schedule, 10, t));
    CHECK(report.stopped);
    CHECK(report.finished == 0);
    CHECK(t.pulled == 0);
}

TEST_CASE("the body of a sequence can queue tasks and inspect the schedule") {
    rig r(schedule_options{.max_outstanding = 2});
    tally t;
    std::vector<job<result<void>>> started;
    const auto queues = [](MADSchedule& s, tally& all, std::vector<job<result<void>>>& jobs) -> generator<task<void>> {
        for (u32 i = 0; i < 10; ++i) jobs.push_back(s.queue(item(s, i, all, counted(all.lives))));
        co_yield task<void>();
        while (!std::all_of(jobs.begin(), jobs.end(), [](const auto& j) { return j.done(); })) co_yield task<void>();
    };
    const auto body = [](auto make, MADSchedule& s, tally& all, auto& jobs) -> task<void> {
        co_await s.mqueue(make(s, all, jobs));
    };
    sync_wait(r.schedule, body(queues, r.schedule, t, started));
    CHECK(t.right == 10);
}
