// SPDX-License-Identifier: MIT
// deadlines_test.cpp - rounding of timeouts, and the lists of deadlines compared with an ordered map.
#include "support/catch.hpp"
#include <comad/mad/detail/deadlines.hpp>

#include <chrono>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace comad;
using namespace std::chrono_literals;
using mad::duration;
using mad::time_point;
using mad::detail::deadlines;

namespace {

constexpr time_point at(duration since_epoch) { return time_point{since_epoch}; }

/// Returns every slot that is due at `now`.
std::set<u32> expire_all(deadlines& d, time_point now) {
    std::set<u32> due;
    for (u32 slot; (slot = d.expire(now)) != deadlines::no_slot;) due.insert(slot);
    return due;
}

} // namespace

TEST_CASE("deadlines round a timeout up by at most 1/32") {
    std::mt19937_64 random(1);
    std::vector<duration> timeouts{1us, 4096ns, 1ms, 20ms, 100ms, 1s, 4294967296ns, 10min, 30min};
    for (int bits = 10; bits < 40; ++bits) {
        const auto power = static_cast<duration::rep>(u64{1} << bits);
        for (duration::rep near : {-1, 0, 1}) timeouts.emplace_back(power + near);
        for (int i = 0; i < 1000; ++i)
            timeouts.emplace_back(power + static_cast<duration::rep>(random() % static_cast<u64>(power)));
    }
    for (const duration t : timeouts) {
        CAPTURE(t.count());
        const duration kept = deadlines::rounded(t);
        REQUIRE(kept >= t);
        REQUIRE(kept - t <= std::max<duration>(t / 32, 24ns)); // 24 ns: shorter timeouts become 1.024 us
        REQUIRE(deadlines::rounded(kept) == kept);
    }
}

TEST_CASE("deadlines clamp an out-of-range timeout to the nearest supported value") {
    CHECK(deadlines::rounded(-1s) == 1024ns);
    CHECK(deadlines::rounded(0s) == 1024ns);
    CHECK(deadlines::rounded(std::chrono::hours(24)) == deadlines::rounded(std::chrono::hours(25)));
    CHECK(deadlines::rounded(duration::max()) > 35min);
}

TEST_CASE("a slot never expires before its deadline and always expires at the deadline") {
    deadlines d(1);
    d.arm(0, 100ms);
    d.set_now(at(5s));
    const time_point due = at(5s) + deadlines::rounded(100ms);
    CHECK(d.earliest() == due);
    CHECK(d.expire(due - 1ns) == deadlines::no_slot);
    CHECK(d.armed(0));
    CHECK(d.expire(due) == 0);
    CHECK(!d.armed(0));
    CHECK(d.expire(due) == deadlines::no_slot);
    CHECK(d.earliest() == time_point::max());
}

TEST_CASE("a timeout starts at the first clock update after the slot was armed") {
    deadlines d(2);
    d.set_now(at(1s));
    d.arm(0, 100ms); // an hour passes without a clock update
    CHECK(d.expire(at(3600s)) == deadlines::no_slot);
    d.set_now(at(3600s));
    CHECK(d.earliest() == at(3600s) + deadlines::rounded(100ms));
    d.set_now(at(3600s) + 50ms); // a timeout that has started does not start again
    CHECK(d.earliest() == at(3600s) + deadlines::rounded(100ms));
}

TEST_CASE("a disarmed slot never expires, whether or not its timeout has started") {
    deadlines d(3);
    d.arm(0, 1ms);
    d.arm(1, 1ms);
    d.disarm(0);
    d.set_now(at(0s));
    d.disarm(1);
    d.disarm(2); // the timer was never armed: no effect
    CHECK(expire_all(d, at(1s)).empty());
    CHECK(d.earliest() == time_point::max());
    d.arm(0, 1ms); // it can be armed again
    d.set_now(at(1s));
    CHECK(expire_all(d, at(2s)) == std::set<u32>{0});
}

TEST_CASE("slots with equal timeouts expire in the order in which they were armed") {
    deadlines d(100);
    std::vector<u32> armed, expired;
    for (u32 i = 0; i < 100; ++i) {
        armed.push_back(i * 37 % 100);
        d.arm(armed.back(), 1ms);
        if (i % 3 == 0) d.set_now(at(i * 1us));
    }
    d.set_now(at(100us));
    for (u32 slot; (slot = d.expire(at(1s))) != deadlines::no_slot;) expired.push_back(slot);
    CHECK(expired == armed);
}

TEST_CASE("deadlines match an ordered map for any sequence of arm, disarm and wait") {
    const u32 seed = GENERATE(range(1u, 21u));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const u32 slots = seed == 1 ? 65536 : 1 + random() % 300;
    deadlines d(slots);
    std::multimap<time_point, u32> model; // timers that have started
    std::vector<std::multimap<time_point, u32>::iterator> place(slots, model.end());
    std::map<u32, duration> unstarted;
    time_point now{};

    const auto armed = [&](u32 slot) { return place[slot] != model.end() || unstarted.contains(slot); };
    const auto set_time = [&] {
        d.set_now(now);
        for (const auto& [slot, timeout] : unstarted) place[slot] = model.emplace(now + timeout, slot);
        unstarted.clear();
    };
    for (int step = 0; step < 20000; ++step) {
        const u32 slot = random() % slots;
        REQUIRE(d.armed(slot) == armed(slot));
        switch (random() % 8) {
        case 0:
        case 1:
        case 2:
        case 3: {
            if (armed(slot)) break;
            // From microseconds to minutes, so that every octave occurs.
            const duration timeout{
                static_cast<duration::rep>(1000 + (u64{random()} >> (random() % 32)) * (1 + random() % 200))};
            d.arm(slot, timeout);
            unstarted.emplace(slot, deadlines::rounded(timeout));
            break;
        }
        case 4:
            d.disarm(slot);
            if (place[slot] != model.end()) model.erase(place[slot]);
            place[slot] = model.end();
            unstarted.erase(slot);
            break;
        case 5:
        case 6:
            now += duration{static_cast<duration::rep>(u64{random()} >> (random() % 32))};
            set_time();
            // earliest() is always a lower bound.
            if (!model.empty()) REQUIRE(d.earliest() <= model.begin()->first);
            break;
        case 7: {
            set_time();
            std::set<u32> due;
            while (!model.empty() && model.begin()->first <= now) {
                due.insert(model.begin()->second);
                place[model.begin()->second] = model.end();
                model.erase(model.begin());
            }
            REQUIRE(expire_all(d, now) == due);
            // earliest() is exact after an expiration that found a slot.
            if (!due.empty()) REQUIRE(d.earliest() == (model.empty() ? time_point::max() : model.begin()->first));
            break;
        }
        }
    }
}
