// SPDX-License-Identifier: MIT
// engine_adaptive_test.cpp - operations without a timeout, adaptive windows, and rates, from the view of the transport.
#include "library/engine_rig.hpp"
#include <comad/mad/detail/retry_policy.hpp>

#include <deque>
#include <random>

using namespace comad;
using namespace comad::test;

namespace {

/// Sends requests one at a time, so that each gets its reply before the next one is sent.
void answer_in_turn(rig& r, unsigned many, const IBDRPath& to) {
    for (u32 i = 0; i < many; ++i) {
        measured_get o(i, to);
        r.mads.submit(o);
        REQUIRE(r.run());
        REQUIRE(o.answered_right());
    }
}

} // namespace

TEST_CASE("a lost Get is retried after a few round trips with a new transaction ID") {
    rig r({.max_outstanding = 4});
    r.net.set_script([](const packet& p) { return answered(p, 1ms); });
    answer_in_turn(r, 20, route(1));
    const std::size_t before = r.net.taken().size();
    r.net.set_script([&](const packet& p) { return p.number == before ? dropped() : answered(p, 1ms); });
    measured_get o(100, route(1));
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    REQUIRE(r.net.taken().size() == before + 2);
    const packet &first = r.net.taken()[before], &second = r.net.taken()[before + 1];
    CHECK(second.tid != first.tid);
    CHECK(second.at - first.at > 1ms);
    CHECK(second.at - first.at < 3ms);
    check_balance(r.mads);
}

TEST_CASE("replies from a target that became slow are accepted after any number of retries") {
    rig r({.max_outstanding = 4});
    r.net.set_script([](const packet& p) { return answered(p, 1ms); });
    answer_in_turn(r, 20, route(1));
    r.net.set_script([](const packet& p) { return answered(p, 12ms); });
    measured_get o(100, route(1));
    const time_point begin = r.net.now();
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(r.net.now() - begin == 12ms); // the reply to the first attempt
    CHECK(o.sent_times > 1);
    CHECK(r.mads.counters().late_replies == 1);
    r.drain();
    // The engine now waits long enough for the replies.
    const u64 repeated = r.mads.counters().retried;
    answer_in_turn(r, 20, route(1));
    CHECK(r.mads.counters().retried - repeated <= 3);
}

TEST_CASE("an unresponsive target times out at the time limit and gets fewer attempts until it replies") {
    rig r({.max_outstanding = 4});
    answer_in_turn(r, 20, route(1));
    r.net.set_script([](const packet&) { return dropped(); });
    const auto time_of_failure = [&](u32 number) {
        measured_get o(number, route(1));
        const time_point begin = r.net.now();
        r.mads.submit(o);
        REQUIRE(r.run());
        CHECK(o.ended_as(completion_status::timed_out));
        return r.net.now() - begin;
    };
    const std::size_t before = r.net.taken().size();
    const duration first = time_of_failure(100);
    const std::size_t request_count = r.net.taken().size() - before;
    CHECK(first >= usual.patience);
    CHECK(first <= usual.patience * 11 / 10);
    CHECK(request_count == 4); // no request was ever lost: so many losses are impossible
    CHECK(time_of_failure(101) < usual.patience);
    CHECK(r.net.taken().size() - before - request_count == mad::detail::retry_policy::most_to_unknown);

    r.net.set_script([](const packet& p) { return answered(p); });
    answer_in_turn(r, 1, route(1));
    r.net.set_script([](const packet&) { return dropped(); });
    CHECK(time_of_failure(102) >= usual.patience);
}

TEST_CASE("an operation with a shorter time limit of its own times out earlier, after three attempts") {
    rig r({.max_outstanding = 64});
    r.net.set_script([](const packet& p) { return answered(p, 1ms); });
    answer_in_turn(r, 20, route(1));
    r.net.set_script([](const packet&) { return dropped(); });
    measured_get hurried(100, route(1)), in_no_time(101, route(2)), patient(102, route(3));
    hurried.patience = 100ms;
    in_no_time.patience = 1us;
    patient.patience = 10 * usual.first_patience; // longer than the limit, which applies instead
    in_no_time.distance = patient.distance = 1;   // replies came from this distance
    const time_point begin = r.net.now();
    time_point ended_at[3];
    unsigned i = 0;
    for (measured_get* o : {&hurried, &in_no_time, &patient}) {
        o->then = [&r, &end = ended_at[i++]] { end = r.net.now(); };
        r.mads.submit(*o);
    }
    REQUIRE(r.run());
    for (measured_get* o : {&hurried, &in_no_time, &patient}) {
        CHECK(o->ended_as(completion_status::timed_out));
        CHECK(o->sent_times == 3);
    }
    CHECK(ended_at[0] - begin >= 100ms);
    CHECK(ended_at[0] - begin <= 110ms);
    CHECK(ended_at[1] - begin <= 30ms);
    CHECK(ended_at[2] - begin >= usual.first_patience);
    CHECK(ended_at[2] - begin <= usual.first_patience * 11 / 10);
}

TEST_CASE("a target that has never replied gets a longer time limit, even if other targets replied") {
    const bool others_did = GENERATE(false, true);
    rig r({.max_outstanding = 4});
    if (others_did) answer_in_turn(r, 20, route(2));
    const time_point begin = r.net.now();
    r.net.set_script([](const packet&) { return dropped(); });
    measured_get o(1, route(1));
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    CHECK(o.sent_times <= mad::detail::retry_policy::most_to_unknown);
    CHECK(r.net.now() - begin >= usual.first_patience);
    CHECK(r.net.now() - begin <= usual.first_patience * 11 / 10);
}

TEST_CASE("a late reply revokes the loss that was counted for its attempt") {
    rig r({.max_outstanding = 4});
    answer_in_turn(r, 20, route(1));
    r.net.set_script([](const packet& p) { return answered(p, 300ms); });
    measured_get o(100, route(1)), again(101, route(1));
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    r.drain();
    CHECK(r.mads.counters().revived == 1);
    r.mads.submit(again);
    REQUIRE(r.run());
    CHECK(again.answered_right());
    check_balance(r.mads);
}

TEST_CASE("an operation with an explicit timeout is retried when the timeout ends and never earlier") {
    rig r({.max_outstanding = 0});
    for (u32 i = 0; i < 20; ++i) answer_in_turn(r, 1, route(1));
    const std::size_t before = r.net.taken().size();
    r.net.set_script([](const packet&) { return dropped(); });
    operation set(100, route(1));
    set.bounded().retries = 1;
    const time_point begin = r.net.now();
    r.mads.submit(set);
    REQUIRE(r.run());
    REQUIRE(r.net.taken().size() == before + 2);
    CHECK(r.net.taken()[before + 1].at == begin + kept_patience);
    CHECK(r.net.now() == begin + 2 * kept_patience);
}

TEST_CASE("a request with a maximum timeout doubles its timeout after every second attempt") {
    rig r({.max_outstanding = 4});
    r.net.set_script([](const packet&) { return dropped(); });
    operation set(100, route(1));
    set.bounded().retries = 6;
    set.longest_timeout = 5 * patience;
    r.mads.submit(set);
    REQUIRE(r.run());
    CHECK(set.sent_times == 7);
    constexpr std::array<int, 7> waits{1, 1, 2, 2, 4, 4, 5}, left{19, 18, 17, 15, 13, 9, 5};
    REQUIRE(r.net.taken().size() == waits.size());
    time_point at = r.net.taken()[0].at;
    for (std::size_t i = 0; i < waits.size(); ++i) {
        CAPTURE(i);
        const packet& p = r.net.taken()[i];
        CHECK(p.at == at);
        CHECK(p.attempt_timeout == waits[i] * patience);
        CHECK(p.operation_timeout == left[i] * patience);
        at += mad::detail::deadlines::rounded(waits[i] * patience);
    }
    CHECK(r.net.now() == at);
}

TEST_CASE("a Get makes all its attempts while only a Set is in flight") {
    rig r({.max_outstanding = 4});
    answer_in_turn(r, 20, route(1));
    const std::size_t before = r.net.taken().size();
    // The Set is not late within two seconds. Therefore, no probe may be sent, and no reply shows that an attempt of
    // the Get was lost.
    r.net.set_script([&](const packet& p) { return p.number == before + 4 ? answered(p) : dropped(); });
    operation set(100, route(2));
    set.timeout = 2s;
    measured_get get(101, route(1));
    time_point ended;
    get.then = [&] { ended = r.net.now(); };
    const time_point begin = r.net.now();
    r.mads.submit(set);
    r.mads.submit(get);
    REQUIRE(r.run());
    CHECK(get.answered_right());
    CHECK(get.sent_times == 4);
    CHECK(ended - begin > usual.patience); // its time limit had expired
    CHECK(set.ended_as(completion_status::timed_out));
}

TEST_CASE("the time limit of a Get excludes the time for which max_rate delays the Get") {
    rig r({.max_outstanding = 4, .max_rate = 2});
    answer_in_turn(r, 4, route(1));
    const std::size_t before = r.net.taken().size();
    r.net.set_script([&](const packet& p) { return p.number == before ? dropped() : answered(p); });
    measured_get get(100, route(1));
    r.mads.submit(get);
    REQUIRE(r.run());
    CHECK(get.answered_right());
    REQUIRE(r.net.taken().size() == before + 2);
    CHECK(r.net.taken()[before + 1].at - r.net.taken()[before].at > usual.patience);
}

TEST_CASE("losses seen only by probes count, so that a Get makes as many attempts as the loss rate requires") {
    rig r({.max_outstanding = 4});
    answer_in_turn(r, 20, route(1));
    // One Get after the other, with nothing else in flight: each lost attempt is late when its retry gets a reply.
    r.net.set_script([](const packet& p) { return p.number % 3 == 0 ? dropped() : answered(p); });
    answer_in_turn(r, 400, route(1));
    CHECK(r.mads.losses().loss() > 0.25);
    CHECK(r.mads.losses().attempts(true) > 10); // log(10^-9) / log(1/3) = 18.9, limited to 16
}

TEST_CASE("every Get gets a reply if each direction loses one MAD in five") {
    rig r({.max_outstanding = 0});
    std::mt19937 random(1);
    r.net.set_script([&](const packet& p) {
        if (random() % 5 == 0) return dropped();
        const duration delay{80'000 + random() % 40'000};
        if (random() % 5 == 0) return dropped();
        return random() % 10 ? answered(p, delay) : fate{{}, {reply(p, delay), reply(p, delay * 2)}};
    });
    std::deque<measured_get> all;
    for (u32 i = 0; i < 20'000; ++i) {
        all.emplace_back(i, route(static_cast<u8>(1 + i % 250), static_cast<u8>(1 + i / 250)));
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    unsigned wrong = 0;
    for (const measured_get& o : all) wrong += !o.answered_right();
    CHECK(wrong == 0);
    CHECK(r.mads.losses().loss() > 0.2); // the loss rate is 1 - 0.8 * 0.8; at the end, requests with many losses remain
    r.drain();
    check_balance(r.mads);
}

// ---- windows --------------------------------------------------------------------------------------------------------

TEST_CASE("an adaptive window starts small and grows up to the limit of the transport while all replies arrive") {
    rig r({.max_outstanding = 0});
    witness seen(r.net);
    r.net.set_script([&](const packet& p) {
        seen.saw(p);
        return answered(p, 100us);
    });
    CHECK(r.mads.window() == 8);
    std::deque<measured_get> all;
    for (u32 i = 0; i < 5000; ++i) {
        all.emplace_back(i, route(static_cast<u8>(1 + i % 250), static_cast<u8>(1 + i / 250)));
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    CHECK(r.mads.window() == engine_options::most_adaptive);
    CHECK(seen.most == engine_options::most_adaptive);

    scripted_transport narrow;
    narrow.max_window = 3;
    const engine bounded(narrow, {.max_outstanding = 0});
    CHECK(bounded.window() == 3);
}

namespace {

struct outcome {
    unsigned wrong = 0;
    u64 dropped = 0;
    duration took{};
    unsigned window = 0;
};

/// Sends 6,000 Gets over a wire that has space for this number of MADs and drops the others.
outcome over_narrow_wire(unsigned room, const engine_options& options, unsigned targets = 100) {
    rig r(options);
    outcome o;
    unsigned on_wire = 0;
    std::mt19937 random(room);
    r.net.set_script([&](const packet& p) {
        if (on_wire >= room) {
            ++o.dropped;
            return dropped();
        }
        ++on_wire;
        return answered(p, duration{80'000 + random() % 40'000});
    });
    r.net.on_delivery = [&](const arrival&) { --on_wire; };
    std::deque<measured_get> all;
    for (u32 i = 0; i < 6000; ++i) {
        const unsigned to = i % targets;
        all.emplace_back(i, route(static_cast<u8>(1 + to % 100), static_cast<u8>(1 + to / 100)));
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    for (const measured_get& get : all) o.wrong += !get.answered_right();
    o.took = r.net.now().time_since_epoch();
    o.window = r.mads.window();
    check_balance(r.mads);
    return o;
}

} // namespace

TEST_CASE("an adaptive window adjusts to the capacity of a narrow link and loses few MADs") {
    const unsigned room = GENERATE(10u, 20u, 40u);
    const unsigned bound = GENERATE(1u, 2u);
    CAPTURE(room, bound);
    const outcome adaptive = over_narrow_wire(room, {.max_outstanding = 0, .per_destination = bound});
    const outcome fixed = over_narrow_wire(room, {.max_outstanding = 200, .per_destination = bound});
    CHECK(adaptive.wrong == 0);
    CHECK(adaptive.window <= 4 * room);
    CHECK(adaptive.dropped < 6000 / 3);
    CHECK(adaptive.took < fixed.took / 10); // the fixed window loses most of what it sends, and waits for replies
}

TEST_CASE("an adaptive window shrinks even if each lost MAD was the first one to its target") {
    const unsigned room = 10;
    const outcome o = over_narrow_wire(room, {.max_outstanding = 0}, 6000);
    CHECK(o.wrong == 0);
    CHECK(o.window <= 4 * room);
    CHECK(o.dropped < 6000 / 3);
}

TEST_CASE("operations queued for a destination complete when the window shrinks or they are withdrawn") {
    rig r({.max_outstanding = 0, .per_destination = 1});
    std::mt19937 random(7);
    unsigned on_wire = 0;
    r.net.set_script([&](const packet& p) {
        if (on_wire >= 4 || random() % 4 == 0) return dropped();
        ++on_wire;
        return answered(p, 100us);
    });
    r.net.on_delivery = [&](const arrival&) { --on_wire; };
    std::deque<measured_get> all;
    for (u32 i = 0; i < 3000; ++i) {
        all.emplace_back(i, route(static_cast<u8>(1 + random() % 5)));
        r.mads.submit(all.back());
        if (i % 7 == 0) r.mads.cancel(all[random() % all.size()]);
        if (i % 11 == 0) r.mads.withdraw(all[random() % all.size()]);
        if (i % 5 == 0) r.wait(50us);
    }
    REQUIRE(r.run());
    for (const measured_get& o : all) CHECK(o.completions <= 1);
    check_balance(r.mads);
}

// ---- rates ----------------------------------------------------------------------------------------------------------

TEST_CASE("max_rate is an upper bound per second and is reached while requests are queued") {
    rig r({.max_outstanding = 64, .max_rate = 10'000});
    std::deque<measured_get> all;
    for (u32 i = 0; i < 5000; ++i) {
        all.emplace_back(i, route(static_cast<u8>(1 + i % 250), static_cast<u8>(1 + i / 250)));
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    const auto& sent = r.net.taken();
    REQUIRE(sent.size() == 5000);
    for (std::size_t i = 100; i < sent.size(); ++i)
        REQUIRE(sent[i].at - sent[i - 100].at >= 9ms - 1us); // 100 in 10 ms, including a burst of one millisecond
    CHECK(sent.back().at - sent.front().at < 501ms);
}

TEST_CASE("max_rate also limits operations that are queued for their destination") {
    rig r({.max_outstanding = 64, .per_destination = 1, .max_rate = 10'000});
    r.net.set_script([](const packet& p) { return answered(p, 5us); });
    std::deque<operation> all;
    for (u32 i = 0; i < 1000; ++i) r.mads.submit(all.emplace_back(i, route(1)).bounded());
    REQUIRE(r.run());
    const auto& sent = r.net.taken();
    REQUIRE(sent.size() == 1000);
    for (std::size_t i = 100; i < sent.size(); ++i) REQUIRE(sent[i].at - sent[i - 100].at >= 9ms - 1us);
}
