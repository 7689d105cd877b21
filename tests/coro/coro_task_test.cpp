// SPDX-License-Identifier: MIT
// coro_task_test.cpp - tests of tasks, generators and jobs: when they run, what they return, and when their frames are
// destroyed.
#include "library/coro_rig.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;

namespace {

task<int> give(int value) { co_return value; }
task<int> fail() {
    throw std::runtime_error("as expected");
    co_return 0;
}

} // namespace

// ---- task ------------------------------------------------------------------------------------------------------------

TEST_CASE("a task starts when it is awaited and not earlier") {
    rig r;
    bool ran = false;
    const auto note = [](bool& flag) -> task<void> {
        flag = true;
        co_return;
    };
    const auto body = [](auto make, bool& flag) -> task<bool> {
        task<void> inner = make(flag);
        const bool before = flag;
        co_await std::move(inner);
        co_return !before;
    };
    task<bool> t = body(note, ran);
    CHECK(!ran);
    CHECK(sync_wait(r.schedule, std::move(t)));
    CHECK(ran);
}

TEST_CASE("a task that is never awaited frees its parameters") {
    census lives;
    const auto keep = [](counted) -> task<void> { co_return; };
    {
        task<void> never = keep(counted(lives));
        CHECK(lives.live() == 1);
        task<void> moved = std::move(never);
        CHECK(lives.live() == 1);
        CHECK(!never);
        CHECK(moved);
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

TEST_CASE("results are returned by move if they are movable") {
    rig r;
    const auto make = []() -> task<std::unique_ptr<std::string>> { co_return std::make_unique<std::string>("here"); };
    const auto twice = [](auto inner) -> task<std::string> {
        std::unique_ptr<std::string> first = co_await inner();
        std::unique_ptr<std::string> second = co_await inner();
        co_return *first + *second;
    };
    CHECK(sync_wait(r.schedule, twice(make)) == "herehere");
}

TEST_CASE("a result has exactly one live copy per owner") {
    rig r;
    census lives;
    const auto make = [](census& c) -> task<counted> { co_return counted(c); };
    const auto pass = [](auto inner, census& c) -> task<counted> {
        counted value = co_await inner(c);
        co_return value;
    };
    {
        const counted result = sync_wait(r.schedule, pass(make, lives));
        CHECK(lives.live() == 1);
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

TEST_CASE("an exception passes through any number of tasks to the awaiter") {
    rig r;
    const auto outer = []() -> task<int> {
        const int value = co_await fail();
        co_return value;
    };
    const auto outermost = [](auto inner) -> task<std::string> {
        try {
            co_await inner();
        } catch (const std::runtime_error& e) {
            co_return e.what();
        }
        co_return "nothing";
    };
    CHECK(sync_wait(r.schedule, outermost(outer)) == "as expected");
    CHECK_THROWS_WITH(sync_wait(r.schedule, outer()), "as expected");
}

TEST_CASE("an exception in a task destroys the locals in order") {
    rig r;
    census lives;
    const auto body = [](census& c) -> task<void> {
        const counted local(c);
        co_await fail();
    };
    CHECK_THROWS(sync_wait(r.schedule, body(lives)));
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

namespace {

/// The lowest and the highest stack address at which a leaf of the task tree ran.
struct stack_extent {
    std::uintptr_t lowest = UINTPTR_MAX, highest = 0;
    [[gnu::noinline]] void look() {
        const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest = std::min(lowest, here);
        highest = std::max(highest, here);
    }
    std::uintptr_t bytes() const { return highest - lowest; }
};

task<void> leaf(stack_extent& stack) {
    stack.look();
    co_return;
}
task<void> chain(stack_extent& stack, int depth) {
    stack.look();
    if (depth > 0) co_await chain(stack, depth - 1);
    stack.look();
}

} // namespace

TEST_CASE("ten thousand awaits that complete at once do not grow the stack") {
    rig r;
    stack_extent stack;
    const auto body = [](stack_extent& s) -> task<void> {
        for (int i = 0; i < 10000; ++i) co_await leaf(s);
    };
    sync_wait(r.schedule, body(stack));
    CHECK(stack.bytes() < 4096);
}

TEST_CASE("ten thousand tasks that await each other do not grow the stack") {
    rig r;
    stack_extent stack;
    sync_wait(r.schedule, chain(stack, 10000));
    CHECK(stack.bytes() < 4096);
}

TEST_CASE("ten thousand RPCs in a canceled scope complete at once and do not grow the stack") {
    rig r;
    stack_extent stack;
    const auto body = [](MADSchedule& s, stack_extent& extent) -> task<int> {
        int cancelled = 0;
        for (int i = 0; i < 10000; ++i) {
            auto info = co_await s.SubnGet<smp::NodeInfo>(IBDRPath{});
            cancelled += !info && info.error().code == errc::cancelled;
            extent.look();
        }
        co_return cancelled;
    };
    r.schedule.root().cancel();
    CHECK(sync_wait(r.schedule, body(r.schedule, stack)) == 10000);
    CHECK(stack.bytes() < 4096);
    CHECK(r.net.offered() == 0);
}

// ---- generator ---------------------------------------------------------------------------------------------------------

TEST_CASE("a generator runs only when the next value is requested") {
    int made = 0;
    const auto numbers = [](int& counter) -> generator<int> {
        for (int i = 0; i < 3; ++i) {
            ++counter;
            co_yield i* i;
        }
    };
    generator<int> g = numbers(made);
    CHECK(made == 0);
    std::vector<int> seen;
    while (int* value = g.next()) {
        seen.push_back(*value);
        CHECK(made == static_cast<int>(seen.size()));
    }
    CHECK(seen == std::vector{0, 1, 4});
    CHECK(g.next() == nullptr); // the generator stays at its end
}

TEST_CASE("a generator yields lvalues and temporaries, and the caller can move values out") {
    const auto strings = []() -> generator<std::string> {
        std::string named = "a named one, too long for the small buffer";
        co_yield named;
        co_yield std::string("a temporary, too long for the small buffer");
        co_yield "a conversion, too long for the small buffer";
    };
    generator<std::string> g = strings();
    std::vector<std::string> seen;
    while (std::string* value = g.next()) seen.push_back(std::move(*value));
    CHECK(seen == std::vector<std::string>{"a named one, too long for the small buffer",
                                           "a temporary, too long for the small buffer",
                                           "a conversion, too long for the small buffer"});
}

TEST_CASE("a generator rethrows its exception once and is then at its end") {
    const auto numbers = []() -> generator<int> {
        co_yield 1;
        throw std::runtime_error("as expected");
    };
    generator<int> g = numbers();
    CHECK(*g.next() == 1);
    CHECK_THROWS_WITH(g.next(), "as expected");
    CHECK(g.next() == nullptr);
}

TEST_CASE("a generator that is destroyed early frees its locals") {
    census lives;
    const auto numbers = [](counted) -> generator<int> {
        for (int i = 0;; ++i) co_yield i;
    };
    {
        generator<int> g = numbers(counted(lives));
        CHECK(lives.live() == 1);
        g.next();
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

// ---- job ---------------------------------------------------------------------------------------------------------------

TEST_CASE("a queued task starts at once") {
    rig r;
    job<bool> j = r.schedule.queue(send_query(r.schedule, route(1)));
    CHECK(r.net.taken().size() == 1);
    CHECK(!j.done());
    const auto join = [](job<bool>& running) -> task<bool> { co_return co_await running; };
    CHECK(sync_wait(r.schedule, join(j)));
}

TEST_CASE("a completed job returns its result without waiting") {
    rig r;
    job<int> j = r.schedule.queue(give(7));
    CHECK(j.done());
    CHECK(j.take() == 7);
}

TEST_CASE("jobs run concurrently and can be joined in any order") {
    rig r(schedule_options{.max_outstanding = 64});
    const auto body = [](MADSchedule& s) -> task<int> {
        std::vector<job<bool>> jobs;
        for (u32 i = 0; i < 20; ++i) jobs.push_back(s.queue(send_query(s, route_to(i))));
        int right = 0;
        while (!jobs.empty()) {
            right += co_await jobs.back();
            jobs.pop_back();
        }
        co_return right;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule)) == 20);
    CHECK(r.net.now().time_since_epoch() == round_trip);
}

TEST_CASE("a job rethrows its exception in the task that joins it") {
    rig r;
    job<int> j = r.schedule.queue(fail());
    const auto join = [](job<int>& running) -> task<int> { co_return co_await running; };
    CHECK_THROWS_WITH(sync_wait(r.schedule, join(j)), "as expected");
}

TEST_CASE("destroying a job withdraws its pending MAD and frees all frames of the job") {
    rig r(silence);
    census lives;
    const auto inner = [](MADSchedule& s, counted) -> task<void> { co_await touch(s, IBDRPath{}); };
    const auto outer = [](auto call, MADSchedule& s, counted mine) -> task<void> { co_await call(s, mine); };
    {
        job<void> j = r.schedule.queue(outer(inner, r.schedule, counted(lives)));
        CHECK(lives.live() >= 2);
        CHECK(r.schedule.in_flight() == 1);
    }
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.in_flight() == 1); // its reply may still arrive
    CHECK(r.schedule.idle());
}

TEST_CASE("a job can be moved while its task runs") {
    rig r;
    std::optional<job<bool>> second;
    {
        job<bool> first = r.schedule.queue(send_query(r.schedule, route(1)));
        second.emplace(std::move(first));
    }
    const auto join = [](job<bool>& running) -> task<bool> { co_return co_await running; };
    CHECK(sync_wait(r.schedule, join(*second)));
}

// ---- sync_wait ---------------------------------------------------------------------------------------------------------

TEST_CASE("waiting for an event that can never occur is an error instead of a hang") {
    rig r;
    census lives;
    const auto for_ever = [](counted) -> task<void> { co_await std::suspend_always{}; };
    CHECK_THROWS_AS(sync_wait(r.schedule, for_ever(counted(lives))), std::logic_error);
    CHECK(lives.live() == 0);
}
