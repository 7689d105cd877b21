// SPDX-License-Identifier: MIT
// coro_hazards_test.cpp - ways to write co_await that the compiler must translate correctly.
//
// GCC 12.2 destroys some temporaries of a full-expression with co_await twice. This code base uses the forms in the
// first half of this file. Every compiler must translate them correctly. The forms in the second half are the reason
// for the coding rule: one co_await per statement, with lambdas and aggregates named first. GCC 12 may translate them
// wrong, and the test then prints a message. Newer compilers must translate them correctly. The rule can go when all
// supported compilers do. These tests do not run with GCC's sanitizers, which break coroutines in other ways.
#include "library/coro_rig.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::test;
using mad::result;

namespace {

struct trivial {
    int a = 0, b = 0;
};
struct with_constructor {
    explicit with_constructor(census& c) : member(c) {}
    counted member;
};
struct aggregate {
    int number;
    counted member;
};

task<int> take(counted, int n = 1) { co_return n; }
task<int> take_trivial(trivial t) { co_return t.a + t.b; }
task<int> take_constructed(with_constructor) { co_return 1; }
task<int> take_aggregate(aggregate a) { co_return a.number; }
template <class F> task<int> call(F f) { co_return f(); }
task<int> one() { co_return 1; }
task<std::pair<int, counted>> pair_of(census& c) { co_return std::pair(1, counted(c)); }
task<std::vector<counted>> three(census& c) { co_return std::vector<counted>(3, counted(c)); }
task<result<int>> good(counted) { co_return 1; }
task<result<int>> bad(counted) { co_return mad::mad_error{}; }
int add(int a, int b) { return a + b; }

/// Returns true if every object that a coroutine created was destroyed exactly once.
bool balanced(const census& lives) { return lives.live() == 0 && lives.ghosts() == 0; }

template <class Body> void check(Body body, int expected) {
    rig r;
    census lives;
    const int value = sync_wait(r.schedule, body(r.schedule, lives));
    CHECK(value == expected);
    CHECK(balanced(lives));
}

/// Checks the same for forms that GCC 12 is known to translate wrong, except with GCC 12.
template <class Body> void check_where_possible(Body body) {
    rig r;
    census lives;
    sync_wait(r.schedule, body(lives));
    CHECK(lives.peak() >= 1); // the body ran
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    if (balanced(lives)) WARN("this GCC 12 gets it right");
#else
    CHECK(balanced(lives));
#endif
}

} // namespace

// ---- forms that this code base uses ----------------------------------------------------------------------------------

TEST_CASE("co_await works with named arguments that are moved in") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            counted named(c);
            const int n = co_await take(std::move(named));
            co_return n;
        },
        1);
}

TEST_CASE("co_await works with temporaries of a class with a constructor") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            const int a = co_await take(counted(c));
            const int b = co_await take_constructed(with_constructor(c));
            co_return a + b;
        },
        2);
}

TEST_CASE("co_await works with trivial aggregates with or without designated initializers") {
    check(
        [](MADSchedule&, census&) -> task<int> {
            const int a = co_await take_trivial({1, 2});
            const int b = co_await take_trivial({.a = 3});
            const int c = co_await take_trivial(trivial{.b = 4});
            co_return a + b + c;
        },
        10);
}

TEST_CASE("co_await works on a named task with any arguments") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            auto with_aggregate = take_aggregate(aggregate{1, counted(c)});
            auto with_lambda = call([held = counted(c)] { return 2; });
            const int a = co_await std::move(with_aggregate);
            const int b = co_await std::move(with_lambda);
            co_return a + b;
        },
        3);
}

TEST_CASE("co_await works in structured bindings") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            auto [number, held] = co_await pair_of(c);
            (void)held;
            co_return number;
        },
        1);
}

TEST_CASE("co_await works in a conditional expression and in a conjunction") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            const int a = c.live() == 0 ? co_await take(counted(c)) : co_await one();
            const bool both = co_await take(counted(c)) == 1 && co_await one() == 1;
            co_return a + both;
        },
        2);
}

TEST_CASE("co_await works in a condition") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            if (co_await take(counted(c), 7) == 7) co_return 1;
            co_return 0;
        },
        1);
}

TEST_CASE("co_await works in the range of a loop") {
    check(
        [](MADSchedule&, census& c) -> task<int> {
            int n = 0;
            for ([[maybe_unused]] const counted& each : co_await three(c)) n += co_await one();
            co_return n;
        },
        3);
}

TEST_CASE("co_await works as an argument of a call") {
    check([](MADSchedule&,
             census& c) -> task<int> { co_return add(co_await take(counted(c)), co_await take(counted(c), 2)); },
          3);
}

TEST_CASE("co_await works in BOOST_OUTCOME_CO_TRY, with a value and with an error") {
    check(
        [](MADSchedule& s, census& c) -> task<int> {
            const auto body = [](census& lives) -> task<result<int>> {
                const counted local(lives);
                BOOST_OUTCOME_CO_TRY(auto a, co_await good(counted(lives)));
                BOOST_OUTCOME_CO_TRY(auto b, co_await bad(counted(lives)));
                co_return a + b;
            };
            (void)s;
            auto r = co_await body(c);
            co_return r ? 0 : 1;
        },
        1);
}

TEST_CASE("co_await works on RPCs with inline paths and options") {
    check(
        [](MADSchedule& s, census&) -> task<int> {
            const IBDRPath base = route(1);
            auto a = co_await s.SubnGet<smp::NodeInfo>(IBDRPath{});
            auto b = co_await s.SubnGet<smp::NodeInfo>(base.extended(2), 0, {.timeout = 1s, .retries = 1});
            auto c = co_await s.SubnGet<smp::NodeInfo>(mad::any_path{base}, 3);
            auto d = co_await s.SubnSet<smp::PortInfo>(smp::PortInfo{.LID = iba::lid{7}}, base);
            co_return a&& b&& c&& d&& is_answer(b.value(), route(1, 2));
        },
        1);
}

TEST_CASE("co_await works on a sweep with an inline sequence and inline options") {
    check(
        [](MADSchedule& s, census& c) -> task<int> {
            const auto items = [](MADSchedule& schedule, counted held) -> generator<task<void>> {
                for (u32 i = 0; i < 10; ++i) {
                    const auto item = [](MADSchedule& inner, IBDRPath to, counted) -> task<void> {
                        co_await touch(inner, to);
                    };
                    co_yield item(schedule, route_to(i), held);
                }
            };
            auto report = co_await s.mqueue(items(s, counted(c)), {.policy = coro::on_error::stop, .keep_errors = 1});
            co_return static_cast<int>(report.finished);
        },
        10);
}

// ---- forms that the coding rule excludes -----------------------------------------------------------------------------

TEST_CASE("a lambda with a capture in an awaited call is destroyed once, except by GCC 12") {
    check_where_possible([](census& c) -> task<void> {
        const counted held(c);
        co_await call([held] { return 1; });
    });
}

TEST_CASE("an aggregate with a non-trivial destructor in an awaited call is destroyed once, except by GCC 12") {
    check_where_possible([](census& c) -> task<void> { co_await take_aggregate(aggregate{1, counted(c)}); });
    check_where_possible([](census& c) -> task<void> { co_await take_aggregate({.number = 1, .member = counted(c)}); });
}

TEST_CASE("an aggregate with co_await in its initializer is destroyed once, except by GCC 12") {
    check_where_possible([](census& c) -> task<void> {
        const aggregate made{co_await one(), counted(c)};
        (void)made;
    });
}
