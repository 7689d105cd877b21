// SPDX-License-Identifier: MIT
// coro_scope_test.cpp - scopes: joining, cancelling, and what becomes of children when a scope is left.
#include "coro_rig.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::current_scope;
using coro::scope_state;
using mad::mad_error;

namespace {

/// What became of one RPC: the code of its error, or nothing.
using ending = std::optional<errc>;

task<void> ask_and_note(MADSchedule& s, IBDRPath to, std::vector<ending>& endings) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(to);
    endings.push_back(info ? ending{} : ending{info.error().code});
}
task<void> ask_and_hold(MADSchedule& s, IBDRPath to, counted) { co_await touch(s, to); }

task<void> throw_after(MADSchedule& s, IBDRPath to) {
    co_await touch(s, to);
    throw std::runtime_error("as expected");
}

const std::vector<ending> all_cancelled(3, errc::cancelled);

} // namespace

TEST_CASE("join waits for all children") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<std::size_t> {
        scope children(co_await current_scope{});
        for (u32 i = 0; i < 200; ++i) children.spawn(ask_and_note(s, route_to(i), e));
        const std::size_t live = children.live_children();
        co_await children.join();
        co_return live;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule, endings)) == 200);
    CHECK(endings == std::vector<ending>(200));
}

TEST_CASE("joining a scope without children does not wait, and a scope may be joined again") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        co_await children.join();
        for (u32 round = 0; round < 3; ++round) {
            children.spawn(ask_and_note(s, route_to(round), e));
            co_await children.join();
            CHECK(e.size() == round + 1);
        }
    };
    sync_wait(r.schedule, body(r.schedule, endings));
}

TEST_CASE("children may spawn siblings while their scope is joined") {
    rig r;
    struct node {
        static task<void> visit(MADSchedule& s, scope& family, IBDRPath to, int depth, int& visited) {
            auto info = co_await s.SubnGet<smp::NodeInfo>(to);
            visited += info && is_answer(info.value(), to);
            if (depth == 0) co_return;
            for (u8 port : {1, 2, 3}) family.spawn(visit(s, family, to.extended(port), depth - 1, visited));
        }
    };
    int visited = 0;
    const auto body = [](MADSchedule& s, int& v) -> task<void> {
        scope family(co_await current_scope{});
        family.spawn(node::visit(s, family, IBDRPath{}, 4, v));
        co_await family.join();
    };
    sync_wait(r.schedule, body(r.schedule, visited));
    CHECK(visited == 1 + 3 + 9 + 27 + 81);
}

TEST_CASE("join rethrows what a child threw, once, after all ended") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(throw_after(s, route_to(1)));
        for (u32 i = 2; i < 100; ++i) children.spawn(ask_and_note(s, route_to(i), e));
        bool thrown = false;
        try {
            co_await children.join();
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        CHECK(thrown);
        CHECK(e.size() == 98);
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
}

TEST_CASE("cancelling ends what children wait for, in the air, waiting for a slot, or begun later") {
    rig r(silence, {.max_outstanding = 2});
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        for (u32 i = 0; i < 3; ++i) children.spawn(ask_and_note(s, route_to(i), e)); // the third has no slot
        children.cancel();
        CHECK(e.empty()); // not from inside cancel
        co_await children.join();
        CHECK(e == all_cancelled);
        children.spawn(ask_and_note(s, route_to(7), e));
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings == std::vector<ending>(4, errc::cancelled));
    CHECK(r.net.now().time_since_epoch() == 0s);
    CHECK(r.net.taken().size() == 2);
}

TEST_CASE("cancelling reaches inner scopes, queued tasks and mqueues, and nothing outside") {
    rig r([](const packet& p) { return answered(p, 500ms); });
    std::vector<ending> inside, outside;
    const auto items = [](MADSchedule& s, std::vector<ending>& e) -> generator<task<void>> {
        for (u32 i = 0; i < 1000; ++i) co_yield ask_and_note(s, route_to(1000 + i), e);
    };
    const auto inner_sweep = [](auto make, MADSchedule& s, std::vector<ending>& e) -> task<void> {
        auto report = co_await s.mqueue(make(s, e));
        CHECK(report.stopped);
        CHECK(report.finished < 1000);
    };
    const auto inner_scope = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope inner(co_await current_scope{});
        inner.spawn(ask_and_note(s, route_to(1), e));
        co_await inner.join();
    };
    const auto body = [=](MADSchedule& s, std::vector<ending>& in, std::vector<ending>& out) -> task<void> {
        scope other(co_await current_scope{});
        other.spawn(ask_and_note(s, route_to(2), out));
        scope cancelled(co_await current_scope{});
        cancelled.spawn(inner_scope(s, in));
        cancelled.spawn(inner_sweep(items, s, in));
        job<void> queued = cancelled.queue(ask_and_note(s, route_to(3), in));
        co_await touch(s, route_to(4), rpc_options{100ms, 0}); // so that the sweep begins
        cancelled.cancel();
        co_await cancelled.join();
        co_await queued;
        co_await other.join();
    };
    sync_wait(r.schedule, body(r.schedule, inside, outside));
    CHECK(inside.size() >= 3);
    for (const ending& e : inside) CHECK(e == errc::cancelled);
    CHECK(outside == std::vector<ending>(1));
}

TEST_CASE("cancelling a scope inside leaves the outer one alone") {
    rig r;
    std::vector<ending> inside, outside;
    const auto body = [](MADSchedule& s, std::vector<ending>& in, std::vector<ending>& out) -> task<void> {
        scope outer(co_await current_scope{});
        outer.spawn(ask_and_note(s, route_to(1), out));
        scope inner(outer.state());
        inner.spawn(ask_and_note(s, route_to(2), in));
        inner.cancel();
        co_await inner.join();
        co_await outer.join();
    };
    sync_wait(r.schedule, body(r.schedule, inside, outside));
    CHECK(inside == std::vector<ending>(1, errc::cancelled));
    CHECK(outside == std::vector<ending>(1));
}

TEST_CASE("a scope that is made inside a cancelled one is cancelled") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope outer(co_await current_scope{});
        outer.cancel();
        scope inner(outer.state());
        inner.spawn(ask_and_note(s, route_to(1), e));
        co_await inner.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings == std::vector<ending>(1, errc::cancelled));
    CHECK(r.net.offered() == 0);
}

TEST_CASE("leaving a scope destroys children that are still suspended, and withdraws their MADs") {
    rig r(silence, {.max_outstanding = 3});
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        {
            scope children(co_await current_scope{});
            for (u32 i = 0; i < 10; ++i) children.spawn(ask_and_hold(s, route_to(i), counted(c)));
            CHECK(c.live() == 10);
            CHECK(s.in_flight() == 3);
        }
        CHECK(c.live() == 0);
        CHECK(s.in_flight() == 0);
    };
    sync_wait(r.schedule, body(r.schedule, lives));
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("an exception that leaves a scope takes its children with it") {
    rig r(silence);
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(ask_and_hold(s, route_to(1), counted(c)));
        throw std::runtime_error("as expected");
    };
    CHECK_THROWS_WITH(sync_wait(r.schedule, body(r.schedule, lives)), "as expected");
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("frames of children are freed as they end, all but the last one's") {
    rig r;
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        scope children(co_await current_scope{});
        for (u32 i = 0; i < 1000; ++i) {
            children.spawn(ask_and_hold(s, route_to(i), counted(c)));
            co_await children.join();
            CHECK(c.live() <= 1);
        }
    };
    sync_wait(r.schedule, body(r.schedule, lives));
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(lives.peak() <= 3); // the one that runs, the one that ended last, a parameter on its way
}

TEST_CASE("children that end at once, inside spawn, are joined as well") {
    rig r;
    census lives;
    const auto at_once = [](counted) -> task<void> { co_return; };
    const auto body = [](auto child, census& c) -> task<void> {
        scope children(co_await current_scope{});
        for (int i = 0; i < 1000; ++i) children.spawn(child(counted(c)));
        CHECK(children.live_children() == 0);
        co_await children.join();
    };
    sync_wait(r.schedule, body(at_once, lives));
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}
