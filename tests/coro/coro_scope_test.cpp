// SPDX-License-Identifier: MIT
// coro_scope_test.cpp - tests of scopes: joining, canceling, and the children of a scope that its task leaves.
#include "library/coro_rig.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::current_scope;
using coro::scope_state;
using mad::mad_error;

namespace {

/// The error code of one RPC, or nothing if it succeeded.
using ending = std::optional<errc>;

task<void> query_and_note(MADSchedule& s, IBDRPath to, std::vector<ending>& endings) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(to);
    endings.push_back(info ? ending{} : ending{info.error().code});
}
task<void> query_and_hold(MADSchedule& s, IBDRPath to, counted) { co_await touch(s, to); }

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
        for (u32 i = 0; i < 200; ++i) children.spawn(query_and_note(s, route_to(i), e));
        const std::size_t live = children.live_children();
        co_await children.join();
        co_return live;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule, endings)) == 200);
    CHECK(endings == std::vector<ending>(200));
}

TEST_CASE("joining an empty scope does not wait, and a scope can be joined again") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        co_await children.join();
        for (u32 round = 0; round < 3; ++round) {
            children.spawn(query_and_note(s, route_to(round), e));
            co_await children.join();
            CHECK(e.size() == round + 1);
        }
    };
    sync_wait(r.schedule, body(r.schedule, endings));
}

TEST_CASE("children can spawn siblings while their scope is joined") {
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

TEST_CASE("join rethrows the exception of a child once, after all children ended") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(throw_after(s, route_to(1)));
        for (u32 i = 2; i < 100; ++i) children.spawn(query_and_note(s, route_to(i), e));
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

TEST_CASE("canceling a scope ends waits of its children in flight, in the queue and started later") {
    rig r(silence, {.max_outstanding = 2});
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope children(co_await current_scope{});
        for (u32 i = 0; i < 3; ++i) children.spawn(query_and_note(s, route_to(i), e)); // no slot is free for the third
        children.cancel();
        CHECK(e.empty()); // not from inside cancel()
        co_await children.join();
        CHECK(e == all_cancelled);
        children.spawn(query_and_note(s, route_to(7), e));
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings == std::vector<ending>(4, errc::cancelled));
    CHECK(r.net.now().time_since_epoch() == 0s);
    CHECK(r.net.taken().size() == 2);
}

TEST_CASE("canceling a scope cancels inner scopes, queued tasks and mqueues, and nothing outside") {
    rig r([](const packet& p) { return answered(p, 500ms); });
    std::vector<ending> inside, outside;
    const auto items = [](MADSchedule& s, std::vector<ending>& e) -> generator<task<void>> {
        for (u32 i = 0; i < 1000; ++i) co_yield query_and_note(s, route_to(1000 + i), e);
    };
    const auto inner_sweep = [](auto make, MADSchedule& s, std::vector<ending>& e) -> task<void> {
        auto report = co_await s.mqueue(make(s, e));
        CHECK(report.stopped);
        CHECK(report.finished < 1000);
    };
    const auto inner_scope = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope inner(co_await current_scope{});
        inner.spawn(query_and_note(s, route_to(1), e));
        co_await inner.join();
    };
    const auto body = [=](MADSchedule& s, std::vector<ending>& in, std::vector<ending>& out) -> task<void> {
        scope other(co_await current_scope{});
        other.spawn(query_and_note(s, route_to(2), out));
        scope cancelled(co_await current_scope{});
        cancelled.spawn(inner_scope(s, in));
        cancelled.spawn(inner_sweep(items, s, in));
        job<void> queued = cancelled.queue(query_and_note(s, route_to(3), in));
        co_await touch(s, route_to(4), rpc_options{.timeout = 100ms, .retries = 0}); // lets the sweep start
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

TEST_CASE("canceling an inner scope does not affect the outer scope") {
    rig r;
    std::vector<ending> inside, outside;
    const auto body = [](MADSchedule& s, std::vector<ending>& in, std::vector<ending>& out) -> task<void> {
        scope outer(co_await current_scope{});
        outer.spawn(query_and_note(s, route_to(1), out));
        scope inner(outer.state());
        inner.spawn(query_and_note(s, route_to(2), in));
        inner.cancel();
        co_await inner.join();
        co_await outer.join();
    };
    sync_wait(r.schedule, body(r.schedule, inside, outside));
    CHECK(inside == std::vector<ending>(1, errc::cancelled));
    CHECK(outside == std::vector<ending>(1));
}

TEST_CASE("a scope that is created in a canceled scope is canceled") {
    rig r;
    std::vector<ending> endings;
    const auto body = [](MADSchedule& s, std::vector<ending>& e) -> task<void> {
        scope outer(co_await current_scope{});
        outer.cancel();
        scope inner(outer.state());
        inner.spawn(query_and_note(s, route_to(1), e));
        co_await inner.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings == std::vector<ending>(1, errc::cancelled));
    CHECK(r.net.offered() == 0);
}

TEST_CASE("leaving a scope destroys suspended children and withdraws their MADs") {
    rig r(silence, {.max_outstanding = 3});
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        {
            scope children(co_await current_scope{});
            for (u32 i = 0; i < 10; ++i) children.spawn(query_and_hold(s, route_to(i), counted(c)));
            CHECK(c.live() == 10);
            CHECK(s.in_flight() == 3);
        }
        CHECK(c.live() == 0);
        CHECK(s.in_flight() == 3); // replies may still arrive, but no task waits for them
        CHECK(s.idle());
    };
    sync_wait(r.schedule, body(r.schedule, lives));
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("an exception that leaves a scope destroys the children of the scope") {
    rig r(silence);
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(query_and_hold(s, route_to(1), counted(c)));
        throw std::runtime_error("as expected");
    };
    CHECK_THROWS_WITH(sync_wait(r.schedule, body(r.schedule, lives)), "as expected");
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(r.schedule.idle());
}

TEST_CASE("a scope frees the frames of ended children except for the last one") {
    rig r;
    census lives;
    const auto body = [](MADSchedule& s, census& c) -> task<void> {
        scope children(co_await current_scope{});
        for (u32 i = 0; i < 1000; ++i) {
            children.spawn(query_and_hold(s, route_to(i), counted(c)));
            co_await children.join();
            CHECK(c.live() <= 1);
        }
    };
    sync_wait(r.schedule, body(r.schedule, lives));
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(lives.peak() <= 3); // the running task, the task that ended last, and a parameter that is being moved
}

TEST_CASE("children that complete inside spawn are joined") {
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

namespace {

/// Nested scopes with Gets and Sets in each. The number of a leaf is its route.
struct scope_tree {
    MADSchedule& schedule;
    std::mt19937 random;
    std::vector<scope*> scopes{};           ///< null if the scope was left
    std::vector<std::vector<u32>> within{}; ///< for each leaf, the scopes that contain it

    u32 below(u32 n) { return static_cast<u32>(random() % n); }

    task<void> leaf(u32 number) {
        if (below(4) == 0) co_await schedule.pause(std::chrono::microseconds(below(400)));
        if (below(2) == 0) co_await touch(schedule, route_to(number), rpc_options{.timeout = 200us, .retries = 2});
        else [[maybe_unused]]
            auto set = co_await schedule.SubnSet(smp::PortInfo{}, route_to(number), 0,
                                                 rpc_options{.timeout = 200us, .retries = 2});
    }
    generator<task<void>> leaves(u32 count, std::vector<u32> in) {
        for (u32 i = 0; i < count; ++i) {
            within.push_back(in);
            co_yield leaf(static_cast<u32>(within.size() - 1));
        }
    }
    task<void> queue_leaves(u32 count, std::vector<u32> in) { co_await schedule.mqueue(leaves(count, in)); }
    task<void> grow(unsigned depth, std::vector<u32> in) {
        scope own(co_await current_scope{});
        const auto number = static_cast<u32>(scopes.size());
        scopes.push_back(&own);
        in.push_back(number);
        for (u32 i = below(6); i > 0; --i) {
            within.push_back(in);
            own.spawn(leaf(static_cast<u32>(within.size() - 1)));
        }
        if (below(2)) own.spawn(queue_leaves(below(10), in));
        for (u32 i = depth ? 1 + below(3) : 0; i > 0; --i) own.spawn(grow(depth - 1, in));
        co_await own.join();
        scopes[number] = nullptr;
    }
};

} // namespace

TEST_CASE("no request is sent after cancel() in any nesting of scopes") {
    unsigned cancelled_waiting = 0;
    for (u32 seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        rig r([](const packet& p) { return p.bytes[131] % 4 == 0 ? dropped() : answered(p, 100us); },
              {.max_outstanding = 1 + seed % 5});
        scope_tree tree{r.schedule, std::mt19937(seed)};
        std::optional<u32> cancelled;
        std::size_t before = 0;
        const auto cut = [&]() -> task<void> {
            co_await r.schedule.pause(std::chrono::microseconds(tree.below(1500)));
            const u32 one = tree.below(static_cast<u32>(tree.scopes.size()));
            if (!tree.scopes[one]) co_return;
            cancelled = one;
            before = r.net.taken().size();
            tree.scopes[one]->cancel();
        };
        const auto body = [&]() -> task<void> {
            scope all(co_await current_scope{});
            all.spawn(tree.grow(3, {}));
            all.spawn(cut());
            co_await all.join();
        };
        sync_wait(r.schedule, body());
        CHECK(r.schedule.idle());
        if (!cancelled) continue;
        const auto is_cancelled = [&](u32 leaf) {
            const auto& in = tree.within[leaf];
            return std::find(in.begin(), in.end(), *cancelled) != in.end();
        };
        std::set<u32> sent;
        for (std::size_t i = 0; i < r.net.taken().size(); ++i) {
            const auto& bytes = r.net.taken()[i].bytes;
            const u32 leaf = static_cast<u32>(bytes[129] << 16 | bytes[130] << 8 | bytes[131]);
            sent.insert(leaf);
            if (i >= before) CHECK_FALSE(is_cancelled(leaf));
        }
        for (u32 leaf = 0; leaf < tree.within.size(); ++leaf)
            cancelled_waiting += is_cancelled(leaf) && !sent.contains(leaf);
    }
    CHECK(cancelled_waiting > 1000); // enough leaves were canceled while they waited
}
