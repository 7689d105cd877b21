// SPDX-License-Identifier: MIT
// engine_bounds_test.cpp - the window, the limit per destination, and the order of requests, from the view of the
// transport.
#include "library/engine_rig.hpp"

#include <cstdlib>
#include <deque>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>

using namespace comad;
using namespace comad::test;

// ---- limits ---------------------------------------------------------------------------------------------------------

TEST_CASE("the engine fills the window and never exceeds the window") {
    const unsigned window = GENERATE(1u, 2u, 7u, 64u, 300u);
    CAPTURE(window);
    rig r({.max_outstanding = window});
    witness seen(r.net);
    std::mt19937 random(window);
    r.net.set_script([&](const packet& p) {
        seen.saw(p);
        const duration delay{1000 + random() % 50000};
        switch (random() % 20) {
        case 0: return dropped();
        case 1: return fate{{}, {reply(p, delay), reply(p, delay * 2)}};
        default: return answered(p, delay);
        }
    });
    std::deque<operation> all;
    for (u32 i = 0; i < 1000; ++i) {
        all.emplace_back(i).retries = 20;
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    CHECK(seen.most == window);
    for (const operation& o : all) CHECK(o.answered_right());
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("the engine fills the bound per destination and never exceeds the bound") {
    const unsigned bound = GENERATE(1u, 2u, 3u);
    CAPTURE(bound);
    rig r({.max_outstanding = 16, .per_destination = bound});
    witness seen(r.net);
    std::mt19937 random(bound);
    r.net.set_script([&](const packet& p) {
        seen.saw(p);
        return random() % 20 ? answered(p, duration{1000 + random() % 50000}) : dropped();
    });
    std::deque<operation> all;
    for (u32 i = 0; i < 1000; ++i) {
        const u8 port = static_cast<u8>(1 + random() % 5);
        all.emplace_back(i, route(port)).bounded().retries = 20;
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    CHECK(seen.most_to_one == bound);
    CHECK(seen.most == std::min(16u, 5 * bound));
    for (const operation& o : all) CHECK(o.answered_right());
    check_balance(r.mads);
}

TEST_CASE("per_destination is two by default, and 0 removes the bound") {
    struct setting {
        engine_options options;
        bool bounded;
        std::size_t expected;
    };
    const auto s = GENERATE(values<setting>({{{.max_outstanding = 8}, true, 2},
                                             {{.max_outstanding = 8}, false, 8}, // operations that do not request it
                                             {{.max_outstanding = 8, .per_destination = 0}, true, 8}}));
    rig r(s.options);
    std::deque<operation> all;
    for (u32 i = 0; i < 20; ++i) {
        all.emplace_back(i, route(1));
        if (s.bounded) all.back().bounded();
        r.mads.submit(all.back());
    }
    CHECK(r.net.taken().size() == s.expected);
    REQUIRE(r.run());
    CHECK(r.net.taken().size() == 20);
}

TEST_CASE("two routes to one node count as two destinations") {
    rig r({.max_outstanding = 8, .per_destination = 1});
    operation first(1, route(1, 2)), second(2, route(1, 2)), other_way(3, route(3, 2));
    for (operation* o : {&first, &second, &other_way}) r.mads.submit(o->bounded());
    REQUIRE(r.net.taken().size() == 2);
    CHECK(witness::number_of(r.net.taken()[1].bytes.data()) == 3);
    REQUIRE(r.run());
}

TEST_CASE("the limit of the transport lowers the window") {
    scripted_transport net;
    net.max_window = 3;
    engine mads(net, {.max_outstanding = 64});
    CHECK(mads.window() == 3);
}

TEST_CASE("the engine rejects a window above 65536 at once") {
    scripted_transport net;
    net.max_window = ~0u;
    CHECK_THROWS_AS(engine(net, {.max_outstanding = 65537}), std::invalid_argument);
    CHECK_THROWS_AS(engine(net, {.max_outstanding = ~0u}), std::invalid_argument);
    net.max_window = 0;
    CHECK_THROWS_AS(engine(net), std::invalid_argument);
}

TEST_CASE("has_room is true exactly if one more operation would be sent") {
    rig r({.max_outstanding = 2, .per_destination = 1});
    operation a(1, route(1)), b(2, route(1)), c(3, route(2));
    CHECK(r.mads.has_room());
    r.mads.submit(a.bounded());
    r.mads.submit(b.bounded()); // has to wait for a, but occupies no slot
    CHECK(r.mads.in_flight() == 1);
    CHECK(r.mads.has_room());
    r.mads.submit(c.bounded());
    CHECK(!r.mads.has_room());
    REQUIRE(r.run());
    CHECK(r.mads.has_room());
}

TEST_CASE("has_room is false while a long queue waits for one destination") {
    rig r({.max_outstanding = 4, .per_destination = 1});
    std::deque<operation> all;
    u32 number = 0;
    while (r.mads.has_room()) {
        REQUIRE(number < 1000);
        r.mads.submit(all.emplace_back(number++, route(1)).bounded());
    }
    CHECK(r.mads.in_flight() == 1);
    REQUIRE(r.run());
    CHECK(r.mads.has_room());
}

TEST_CASE("has_room is true again after the operations queued for a destination were withdrawn") {
    rig r({.max_outstanding = 4, .per_destination = 1});
    std::deque<operation> all;
    for (u32 i = 0; i < 400; ++i) r.mads.submit(all.emplace_back(i, route(1)).bounded());
    REQUIRE(!r.mads.has_room());
    for (auto o = all.rbegin(); o != all.rend(); ++o) r.mads.withdraw(*o);
    CHECK(r.mads.has_room());
}

TEST_CASE("a window of 65536 carries 65536 operations at once") {
    rig r({.max_outstanding = 65536, .per_destination = 2});
    std::deque<operation> all;
    for (u32 i = 0; i < 100000; ++i) {
        const auto [high, low] = std::div(static_cast<int>(i), 250);
        const auto [highest, middle] = std::div(high, 250);
        r.mads.submit(all.emplace_back(i, route(static_cast<u8>(1 + highest), static_cast<u8>(1 + middle),
                                                static_cast<u8>(1 + low)))
                          .bounded());
    }
    CHECK(r.mads.in_flight() == 65536);
    REQUIRE(r.run());
    CHECK(std::all_of(all.begin(), all.end(), [](const operation& o) { return o.answered_right(); }));
    check_balance(r.mads);
}

// ---- order ----------------------------------------------------------------------------------------------------------

TEST_CASE("operations are sent in the order in which they were submitted") {
    rig r({.max_outstanding = 3});
    std::deque<operation> all;
    for (u32 i = 0; i < 100; ++i) r.mads.submit(all.emplace_back(i));
    REQUIRE(r.run());
    REQUIRE(r.net.taken().size() == 100);
    for (u32 i = 0; i < 100; ++i) CHECK(witness::number_of(r.net.taken()[i].bytes.data()) == i);
}

TEST_CASE("an operation overtakes only operations that are queued for their destination") {
    const unsigned bound = GENERATE(1u, 2u);
    rig r({.max_outstanding = 5, .per_destination = bound});
    witness seen(r.net);
    std::deque<operation> all;
    std::set<u32> unsent;
    std::mt19937 random(bound);
    r.net.set_script([&](const packet& p) {
        const u32 number = witness::number_of(p.bytes.data());
        for (u32 older : unsent) {
            if (older >= number) break;
            CHECK(seen.to(all[older].destination) == bound);
        }
        unsent.erase(number);
        seen.saw(p);
        return answered(p, duration{1000 + random() % 50000});
    });
    const std::function<void()> submit = [&] {
        const auto number = static_cast<u32>(all.size());
        operation& o = all.emplace_back(number, route(static_cast<u8>(1 + random() % 6))).bounded();
        if (number < 400) o.then = [&] { submit(); }; // more are submitted while the first are in flight
        unsent.insert(number);
        r.mads.submit(o);
    };
    for (u32 i = 0; i < 100; ++i) submit();
    REQUIRE(r.run());
    CHECK(all.size() == 500);
    CHECK(unsent.empty());
}

TEST_CASE("a dead destination does not delay requests to other destinations") {
    rig r({.max_outstanding = 4});
    r.net.set_script([](const packet& p) { return p.bytes[129] == 1 ? dropped() : answered(p); });
    std::deque<operation> all;
    for (u32 i = 0; i < 200; ++i) {
        const u8 port = i % 2 ? 1 : static_cast<u8>(2 + i % 5);
        r.mads.submit(all.emplace_back(i, route(port)).bounded());
    }
    r.wait(kept_patience - 1us); // no attempt has expired yet
    for (u32 i = 0; i < 200; ++i) CHECK(all[i].completions == (i % 2 ? 0 : 1));
    REQUIRE(r.run());
    for (u32 i = 1; i < 200; i += 2) CHECK(all[i].ended_as(completion_status::timed_out));
    check_balance(r.mads);
}

// ---- slots of lost attempts --------------------------------------------------------------------------------------------

TEST_CASE("operations without a reply can make more attempts together than the engine has slots") {
    rig r({.max_outstanding = 8, .per_destination = 0}); // 1,024 slots
    r.net.set_script([](const packet&) { return dropped(); });
    std::deque<operation> all;
    for (u32 i = 0; i < 8; ++i) {
        all.emplace_back(i, route(1)).retries = 255;
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    for (const operation& o : all) {
        CHECK(o.ended_as(completion_status::timed_out));
        CHECK(o.sent_times == 256);
    }
}

TEST_CASE("attempts that are declared lost after their operations ended release their slots") {
    const unsigned per_destination = GENERATE(0u, 2u);
    CAPTURE(per_destination);
    rig r({.max_outstanding = 8, .per_destination = per_destination}); // 1,024 slots
    r.net.set_script([](const packet& p) {
        return p.destination == mad::destination_key(route(1)) ? dropped() : answered(p, 10us);
    });
    for (u32 i = 0; i < 3000; ++i) {
        measured_get dead(2 * i, route(1));
        r.mads.submit(dead);
        dead.then = [] {};
        measured_get living(2 * i + 1, route(2));
        r.mads.submit(living);
        REQUIRE(r.run());
        REQUIRE(living.answered_right());
        REQUIRE(dead.ended_as(completion_status::timed_out));
    }
    r.drain();
    CHECK(r.mads.has_room());
    check_balance(r.mads);
}
