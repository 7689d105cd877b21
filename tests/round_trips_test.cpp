// SPDX-License-Identifier: MIT
// round_trips_test.cpp - deadlines from what was measured, by hand; and who is silent.
#include "catch.hpp"
#include <comad/mad/round_trips.hpp>

#include <chrono>
#include <cmath>

using namespace comad;
using namespace std::chrono_literals;
using mad::duration;
using mad::patience_options;
using mad::round_trips;

namespace {

constexpr duration grain = 100us;
constexpr u64 here = 0x1234'5678'9abc'def0, there = 0x0fed'cba9'8765'4321; // two keys that fall on different places

/// A deadline is what follows from the estimates, rounded up to the next of four steps per octave: at most a quarter longer.
bool is_about(duration deadline, duration exact) { return deadline >= exact && deadline <= exact + exact / 4; }

} // namespace

TEST_CASE("before anything was measured a deadline is the first one") {
    const patience_options options{.first_deadline = 32768us};
    const round_trips trips(options, grain);
    const auto expected = trips.expect(here, 3);
    CHECK(is_about(expected.deadline, 32768us));
    CHECK(expected.patience == options.first_patience);
    CHECK_FALSE(expected.known);
    CHECK_FALSE(expected.silent);
}

TEST_CASE("deadlines follow mean and deviation as RFC 6298 has them") {
    round_trips trips({}, grain);
    trips.answered(here, 3, 8ms); // mean 8, deviation 4: 8 + 4 * 4
    CHECK(is_about(trips.expect(here, 3).deadline, 24ms));
    trips.answered(here, 3, 16ms); // mean 8 + 8 / 8 = 9, deviation 4 + (8 - 4) / 4 = 5
    CHECK(is_about(trips.expect(here, 3).deadline, 29ms));
    trips.answered(here, 3, 9ms); // mean 9, deviation 5 - 5 / 4 = 3.75
    CHECK(is_about(trips.expect(here, 3).deadline, 24ms));
}

TEST_CASE("equal round trips leave half of one, or the transport's grain, whichever is longer") {
    round_trips trips({}, grain);
    for (int i = 0; i < 100; ++i) {
        trips.answered(here, 3, 8ms);
        trips.answered(there, 3, 10us);
    }
    CHECK(is_about(trips.expect(here, 3).deadline, 12ms));
    CHECK(is_about(trips.expect(there, 3).deadline, 110us));
}

TEST_CASE("who has not answered yet is expected as the others at its distance") {
    round_trips trips({}, grain);
    for (int i = 0; i < 100; ++i) trips.answered(here, 3, 8ms);
    const auto expected = trips.expect(there, 3);
    CHECK(is_about(expected.deadline, 12ms));
    CHECK(expected.patience == patience_options{}.patience);
    CHECK_FALSE(expected.known);
    CHECK(trips.expect(here, 3).known);
}

TEST_CASE("one hop beyond all that was measured is several times as far") {
    round_trips trips({}, grain);
    for (int i = 0; i < 100; ++i) trips.answered(here, 3, 1ms);
    CHECK(is_about(trips.expect(there, 4).deadline, 6ms)); // 4 * 1.5
    CHECK(is_about(trips.expect(there, 7).deadline, 6ms));
    CHECK(trips.expect(there, 4).patience == patience_options{}.first_patience);
    // Nearer than anything measured, and another management class: nothing is known.
    CHECK(is_about(trips.expect(there, 2).deadline, patience_options{}.first_deadline));
    CHECK(is_about(trips.expect(there, 70).deadline, patience_options{}.first_deadline));
}

TEST_CASE("a deadline has a limit") {
    round_trips trips({}, grain);
    trips.answered(here, 3, 5s);
    CHECK(trips.expect(here, 3).deadline == patience_options{}.longest_deadline);
}

TEST_CASE("who was given up is tried less, until it answers") {
    round_trips trips({}, grain);
    trips.answered(here, 3, 1ms);
    trips.given_up(here);
    const auto silent = trips.expect(here, 3);
    CHECK(silent.silent);
    CHECK_FALSE(silent.known);
    CHECK(silent.patience < patience_options{}.patience);
    CHECK(round_trips::most_attempts(true) < trips.attempts());
    CHECK_FALSE(trips.expect(there, 3).silent);
    trips.answered(here, 3, 1ms);
    CHECK_FALSE(trips.expect(here, 3).silent);
    CHECK(trips.expect(here, 3).known);
}

TEST_CASE("who never answered can be silent, too") {
    round_trips trips({}, grain);
    trips.given_up(here);
    CHECK(trips.expect(here, 3).silent);
    trips.answered(here, 3, 1ms);
    CHECK_FALSE(trips.expect(here, 3).silent);
}

TEST_CASE("another destination in the same place takes it, and is not taken for the first") {
    round_trips trips({}, grain);
    const u64 same_place = here ^ u64 { 1 } << 63;
    trips.answered(here, 3, 1ms);
    trips.given_up(here);
    CHECK_FALSE(trips.expect(same_place, 3).silent);
    CHECK_FALSE(trips.expect(same_place, 3).known);
    trips.answered(same_place, 3, 1ms);
    CHECK(trips.expect(same_place, 3).known);
    CHECK_FALSE(trips.expect(here, 3).known);
}

TEST_CASE("attempts are as many as the loss needs") {
    struct loss {
        int one_in; // attempts
        unsigned attempts;
    };
    // The least n with loss^n <= 10^-9, at least 6: 0.01^6 = 10^-12; 0.1^9 = 10^-9; 0.2^13 = 8 * 10^-10; 0.5^16 ends it.
    const auto l = GENERATE(values<loss>({{100, 6}, {10, 9}, {5, 13}, {2, 16}}));
    round_trips trips({}, grain);
    CHECK(trips.attempts() == 6);
    for (int i = 1; i <= 100'000; ++i) {
        // One in `one_in` attempts is lost: after each, one_in - 1 answers, the first of them to the repeated one.
        trips.count(1);
        for (int answers = 1; answers < l.one_in - 1; ++answers) trips.count(0);
    }
    CAPTURE(l.one_in, trips.loss());
    CHECK(std::abs(trips.loss() - 1.0 / l.one_in) < 0.02);
    CHECK(std::abs(static_cast<int>(trips.attempts()) - static_cast<int>(l.attempts)) <= 1);
}

TEST_CASE("inflation is against the quickest round trip from that far away") {
    round_trips trips({}, grain);
    CHECK(trips.inflation(3, 1ms) == 1);
    trips.answered(here, 3, 900us);
    trips.answered(there, 3, 2ms);
    CHECK(trips.inflation(3, 1900us) == Approx(2).epsilon(0.01)); // the grain apart
    CHECK(trips.inflation(4, 1900us) == 1);
}
