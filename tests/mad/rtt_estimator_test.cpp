// SPDX-License-Identifier: MIT
// rtt_estimator_test.cpp - deadlines from measurements, calculated by hand; round-trip times without queueing;
// unresponsive targets; numbers of attempts.
#include "support/catch.hpp"
#include <comad/mad/detail/retry_policy.hpp>
#include <comad/mad/detail/rtt_estimator.hpp>

#include <chrono>
#include <cmath>
#include <random>

using namespace comad;
using namespace std::chrono_literals;
using mad::duration;
using mad::patience_options;
using mad::rtt_estimator;
using mad::detail::retry_policy;

namespace {

constexpr duration timer_resolution = 100us;
constexpr u64 here = 0x1234'5678'9abc'def0, there = 0x0fed'cba9'8765'4321; // two keys in different entries
constexpr patience_options usual{};

/// Deadlines follow from the estimates. They are rounded up to one of four steps per octave, so they are at most a
/// quarter longer.
bool is_about(duration deadline, duration exact) { return deadline >= exact && deadline <= exact + exact / 4; }

void answered(rtt_estimator& trips, u64 destination, rtt_estimator::distance d, duration took) {
    trips.answered(destination, d, took, true);
}

} // namespace

// ---- deadlines -------------------------------------------------------------------------------------------------------

TEST_CASE("the deadline before any measurement is the initial deadline") {
    const patience_options options{.first_deadline = 32768us};
    const rtt_estimator trips(options, timer_resolution);
    const auto expected = trips.expect(here, 3);
    CHECK(is_about(expected.deadline, 32768us));
    CHECK(expected.patience == options.first_patience);
    CHECK_FALSE(expected.known);
    CHECK_FALSE(expected.unresponsive);
}

TEST_CASE("deadlines follow mean and deviation as defined by RFC 6298") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 8ms); // mean 8, deviation 4: 8 + 4 * 4
    CHECK(is_about(trips.expect(here, 3).deadline, 24ms));
    answered(trips, here, 3, 16ms); // mean 8 + 8 / 8 = 9, deviation 4 + (8 - 4) / 4 = 5
    CHECK(is_about(trips.expect(here, 3).deadline, 29ms));
    answered(trips, here, 3, 9ms); // mean 9, deviation 5 - 5 / 4 = 3.75
    CHECK(is_about(trips.expect(here, 3).deadline, 24ms));
}

TEST_CASE("a target with one reply gets the deviation of targets at its distance, within bounds") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 100; ++i) answered(trips, there, 3, 8ms); // without deviation
    answered(trips, here, 3, 8ms);
    // Four times the minimum deviation, an eighth, is half of the mean.
    CHECK(is_about(trips.expect(here, 3).deadline, 12ms));
    rtt_estimator scattered({}, timer_resolution);
    for (int i = 0; i < 100; ++i) answered(scattered, there, 3, i % 2 ? 1ms : 99ms);
    answered(scattered, here, 3, 8ms);
    CHECK(is_about(scattered.expect(here, 3).deadline, 24ms)); // the deviation is at most half of the mean
}

TEST_CASE("the margin for equal round trips is half a round trip or the timer resolution, whichever is longer") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 100; ++i) {
        answered(trips, here, 3, 8ms);
        answered(trips, there, 3, 10us);
    }
    CHECK(is_about(trips.expect(here, 3).deadline, 12ms));
    CHECK(is_about(trips.expect(there, 3).deadline, 110us));
}

TEST_CASE("a target without replies gets the deadline of its distance and a longer time limit") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 100; ++i) answered(trips, here, 3, 8ms);
    const auto expected = trips.expect(there, 3);
    CHECK(is_about(expected.deadline, 12ms));
    CHECK(expected.patience == usual.first_patience);
    CHECK_FALSE(expected.known);
    CHECK(trips.expect(here, 3).known);
    CHECK(trips.expect(here, 3).patience == usual.patience);
}

TEST_CASE("a target one hop beyond all measurements gets a deadline several times as long") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 100; ++i) answered(trips, here, 3, 1ms);
    CHECK(is_about(trips.expect(there, 4).deadline, 6ms)); // 4 * 1.5
    CHECK(is_about(trips.expect(there, 7).deadline, 6ms));
    // Nothing is known for a smaller distance, nor for another management class.
    CHECK(is_about(trips.expect(there, 2).deadline, usual.first_deadline));
    CHECK(is_about(trips.expect(there, 70).deadline, usual.first_deadline));
}

TEST_CASE("deadline and time limit are bounded") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 5s);
    CHECK(trips.expect(here, 3).deadline == usual.longest_deadline);
    CHECK(trips.expect(here, 3).patience == usual.first_patience);
    const rtt_estimator brief({.patience = 1s, .first_patience = 10ms}, timer_resolution);
    CHECK(brief.expect(here, 3).patience == 10ms);
}

TEST_CASE("a target with slow replies gets a longer time limit") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 100; ++i) answered(trips, here, 3, 40ms); // 60 ms, times eight
    CHECK(is_about(trips.expect(here, 3).patience, 480ms));
}

TEST_CASE("repeated stalls extend all deadlines for some time") {
    rtt_estimator trips({}, timer_resolution);
    const auto room = [&] { return trips.expect(here, 3).deadline - 10us; };
    for (int i = 0; i < 100; ++i) answered(trips, here, 3, 10us);
    REQUIRE(is_about(room() + 10us, 110us));
    for (int i = 0; i < 20; ++i) trips.on_stall(3ms); // this process pauses now and then
    CHECK(room() > 2900us);
    for (int i = 0; i < 10; ++i) trips.on_stall(1s); // rare long stalls have no effect
    CHECK(room() < 4ms);
    for (int i = 0; i < 40'000; ++i) answered(trips, here, 3, 10us);
    CHECK(room() < 150us);
    for (int i = 0; i < 20; ++i) trips.on_spurious_loss();
    CHECK(room() > 1ms);
    for (int i = 0; i < 200; ++i) trips.on_spurious_loss();
    CHECK(room() <= 25ms);
}

TEST_CASE("the slowest round trip decays over time") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 100ms);
    CHECK(trips.slowest() == 100ms);
    for (int i = 0; i < 20'000; ++i) answered(trips, here, 3, 1ms);
    CHECK(trips.slowest() < 2ms);
}

// ---- Sets ------------------------------------------------------------------------------------------------------------

TEST_CASE("the timeout of a Set is eight deadlines of a Get and at least the 200 ms of OpenSM") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 1ms);
    CHECK(trips.set_timeout(here, 3) == 200ms);
    for (int i = 0; i < 100; ++i) answered(trips, there, 3, 100ms);
    CHECK(trips.set_timeout(there, 3) == 8 * trips.expect(there, 3).deadline);
    CHECK(trips.set_timeout(there, 3) >= 8 * 150ms);
}

TEST_CASE("the timeout of a Set to a node that has never replied is one second") {
    rtt_estimator trips({}, timer_resolution);
    CHECK(trips.set_timeout(here, 3) == usual.first_patience);
    answered(trips, there, 3, 1ms);
    CHECK(trips.set_timeout(here, 3) == usual.first_patience);
}

TEST_CASE("a node that replied only to Sets counts as a node that has replied") {
    rtt_estimator trips({}, timer_resolution);
    trips.set_answered(here, 1ms);
    CHECK(trips.set_timeout(here, 3) == 200ms);
    CHECK(trips.set_timeout(there, 3) == usual.first_patience);
    CHECK_FALSE(trips.expect(here, 3).known);
}

TEST_CASE("an unresponsive destination that replies to a Set is responsive again") {
    rtt_estimator trips({}, timer_resolution);
    trips.given_up(here);
    REQUIRE(trips.expect(here, 3).unresponsive);
    trips.set_answered(here, 1ms);
    CHECK_FALSE(trips.expect(here, 3).unresponsive);
    CHECK(trips.set_timeout(here, 3) == 200ms);
}

TEST_CASE("a slow Set at least doubles the timeout of later Sets until the measurement decays") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 1ms);
    trips.set_answered(here, 300ms);
    CHECK(trips.set_timeout(here, 3) == 600ms);
    CHECK(trips.slowest() == 1ms);
    for (int i = 0; i < 200; ++i) trips.set_answered(here, 1ms);
    CHECK(trips.set_timeout(here, 3) == 200ms);
}

// ---- unresponsive targets --------------------------------------------------------------------------------------------

TEST_CASE("a target that timed out gets a shorter time limit until it replies") {
    rtt_estimator trips({}, timer_resolution);
    answered(trips, here, 3, 1ms);
    trips.given_up(here);
    const auto unresponsive = trips.expect(here, 3);
    CHECK(unresponsive.unresponsive);
    CHECK_FALSE(unresponsive.known);
    CHECK(unresponsive.patience == usual.first_patience / 8);
    CHECK(trips.is_unresponsive(here));
    CHECK_FALSE(trips.expect(there, 3).unresponsive);
    CHECK_FALSE(trips.is_unresponsive(there));
    answered(trips, here, 3, 1ms);
    CHECK_FALSE(trips.expect(here, 3).unresponsive);
    CHECK(trips.expect(here, 3).known);
}

TEST_CASE("an unresponsive target with slow replies keeps a time limit longer than its round trips") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 20; ++i) answered(trips, here, 3, 300ms);
    trips.given_up(here);
    CHECK(trips.expect(here, 3).patience >= 450ms);
    CHECK(trips.expect(here, 3).patience <= usual.first_patience);
}

TEST_CASE("a target that has never replied can become unresponsive") {
    rtt_estimator trips({}, timer_resolution);
    trips.given_up(here);
    CHECK(trips.expect(here, 3).unresponsive);
    answered(trips, here, 3, 1ms);
    CHECK_FALSE(trips.expect(here, 3).unresponsive);
}

TEST_CASE("a destination that maps to an occupied entry replaces the entry and inherits nothing") {
    rtt_estimator trips({}, timer_resolution);
    const u64 same_place = here ^ u64 { 1 } << 63;
    answered(trips, here, 3, 1ms);
    trips.given_up(here);
    CHECK_FALSE(trips.expect(same_place, 3).unresponsive);
    CHECK_FALSE(trips.expect(same_place, 3).known);
    answered(trips, same_place, 3, 1ms);
    CHECK(trips.expect(same_place, 3).known);
    CHECK_FALSE(trips.expect(here, 3).known);
}

// ---- baselines -------------------------------------------------------------------------------------------------------

TEST_CASE("a target that was queried with few MADs in flight has its own baseline") {
    rtt_estimator trips({}, timer_resolution);
    CHECK(trips.answered(here, 3, 50us, true) == 50us);
    CHECK(trips.answered(there, 3, 200us, true) == 200us); // a slower target at the same distance
    CHECK(trips.answered(here, 3, 150us, false) == 50us);
    CHECK(trips.answered(there, 3, 600us, false) == 200us);
}

TEST_CASE("a baseline is the mean of the round trips, not the minimum") {
    rtt_estimator trips({}, timer_resolution);
    std::mt19937 random(1);
    const auto scattered = [&] { return 100us + duration(random() % 40'000); };
    for (int i = 0; i < 100; ++i) trips.answered(here, 3, scattered(), true);
    double sum = 0;
    for (int i = 0; i < 100; ++i) sum += static_cast<double>(trips.answered(here, 3, 130us, false).count());
    CHECK(std::abs(sum / 100 - 120e3) < 12e3);
}

TEST_CASE("a target first queried under load gets the unloaded baseline of its distance") {
    rtt_estimator trips({}, timer_resolution);
    for (u64 i = 1; i <= 20; ++i) trips.answered(i << 32 | i, 3, 100us, true);
    CHECK(abs(trips.answered(here, 3, 300us, false) - 100us) < 1us); // queued from its first request on
    // The round trips are usually half again as long as the shortest.
    rtt_estimator mixed({}, timer_resolution);
    for (u64 i = 1; i <= 400; ++i) mixed.answered(i << 32 | i, 3, i % 2 ? 100us : 200us, true);
    const duration baseline = mixed.answered(here, 3, 300us, false);
    CHECK(baseline > 130us);
    CHECK(baseline < 170us);
    CHECK(mixed.answered(there, 3, 110us, false) == 110us); // the baseline cannot be longer than the measured time
}

TEST_CASE("the baseline follows a permanently longer round-trip time") {
    rtt_estimator trips({}, timer_resolution);
    for (int i = 0; i < 50; ++i) trips.answered(here, 3, 100us, true);
    for (int i = 0; i < 50; ++i) trips.answered(here, 3, 200us, true);
    const duration baseline = trips.answered(here, 3, 300us, false);
    CHECK(baseline > 195us);
}

// ---- numbers of attempts ---------------------------------------------------------------------------------------------

namespace {

/// One of `one_in` attempts is lost: each loss is followed by one_in - 1 replies.
retry_policy after_loss(int one_in, int rounds = 20'000) {
    retry_policy r;
    for (int i = 0; i < rounds; ++i) {
        if (i % one_in == 0) r.count_lost();
        else r.count_answered();
    }
    return r;
}

} // namespace

TEST_CASE("the number of attempts to a responsive target follows the loss rate") {
    struct loss {
        int one_in; // one loss per this number of attempts
        unsigned attempts;
    };
    // The smallest n with loss^n <= 10^-9, from 4 to 16: 0.01^5 = 10^-10; 0.1^9 = 10^-9; 0.2^13 = 8 * 10^-10; 0.5^16 is
    // the limit.
    const auto l = GENERATE(values<loss>({{1'000'000, 4}, {100, 5}, {10, 9}, {5, 13}, {2, 16}}));
    const retry_policy r = after_loss(l.one_in);
    CAPTURE(l.one_in, r.loss());
    CHECK(std::abs(r.loss() - 1.0 / l.one_in) < 0.01);
    CHECK(std::abs(static_cast<int>(r.attempts(true)) - static_cast<int>(l.attempts)) <= 1);
    CHECK(r.attempts(true, true) <= r.attempts(true));
    CHECK(r.attempts(true, true) >= 3);
}

TEST_CASE("a target that has never replied gets three attempts, and more only at high loss rates") {
    CHECK(retry_policy().attempts(false) == 3);
    CHECK(after_loss(1'000'000).attempts(false) == 3);
    CHECK(after_loss(50).attempts(false) == 3);
    CHECK(after_loss(5).attempts(false) > 6);
    CHECK(after_loss(5).attempts(false) < after_loss(5).attempts(true));
}

TEST_CASE("the first losses affect the loss rate at once") {
    retry_policy r;
    r.count_answered();
    r.count_lost();
    r.count_lost();
    r.count_answered();
    CHECK(r.loss() == Approx(0.5));
}

TEST_CASE("the back-off grows with each attempt, later at high loss rates, up to a limit") {
    const retry_policy clean = after_loss(1'000'000), lossy = after_loss(5);
    unsigned before = 0;
    for (const unsigned attempt : {1u, 2u, 3u, 4u, 5u}) {
        CHECK(clean.backoff(attempt) == 1u << (attempt - 1));
        CHECK(lossy.backoff(attempt) <= clean.backoff(attempt));
        CHECK(lossy.backoff(attempt) >= before);
        before = lossy.backoff(attempt);
    }
    CHECK(lossy.backoff(3) == 1);
    CHECK(clean.backoff(16) == 16);
    CHECK(lossy.backoff(16) == 16);
}
