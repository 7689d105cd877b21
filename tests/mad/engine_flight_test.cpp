// SPDX-License-Identifier: MIT
// engine_flight_test.cpp - what occupies the window and for how long: late and lost MADs, attempts, and MADs that
// outlive their operation. Also tests probes while nothing arrives, and slow targets. All tests observe the transport.
#include "library/engine_rig.hpp"
#include <comad/mad/detail/retry_policy.hpp>

#include <deque>
#include <map>
#include <random>
#include <set>

using namespace comad;
using namespace comad::test;

namespace {

/// Sends Gets to these targets, one after the other, so that each target replies to some of them.
void meet(rig& r, unsigned targets, unsigned times = 10) {
    for (u32 i = 0; i < targets * times; ++i) {
        measured_get o(1'000'000 + i, route(static_cast<u8>(1 + i % targets)));
        r.mads.submit(o);
        REQUIRE(r.run());
        REQUIRE(o.answered_right());
    }
}

/// A device that replies to everything, holds replies back while it is paused, and counts the replies that it owes.
class counting_device {
public:
    counting_device(rig& r, duration round_trip) : rig_(r), round_trip_(round_trip) {
        r.net.set_script([this](const packet& p) {
            owed_.insert(p.tid);
            most = std::max(most, owed_.size());
            const time_point due = std::max(p.at + round_trip_, paused_until_);
            return answered(p, due - p.at);
        });
        r.net.on_delivery = [this](const arrival& a) { owed_.erase(tid_of(a)); };
    }
    /// Has no effect during another pause, because the transport already has the arrival times of the replies.
    void pause(duration d) {
        if (paused_until_ <= rig_.net.now()) paused_until_ = rig_.net.now() + d;
    }
    std::size_t owes() const { return owed_.size(); }
    std::size_t most = 0;

private:
    static u32 tid_of(const arrival& a) { return scripted_transport::tid_of(a.bytes.data()); }
    rig& rig_;
    duration round_trip_;
    time_point paused_until_{};
    std::set<u32> owed_;
};

} // namespace

// ---- requests that count in the window -------------------------------------------------------------------------------

TEST_CASE("a late MAD counts in the window until a reply to a later MAD arrives") {
    rig r({.max_outstanding = 2});
    meet(r, 4);
    const std::size_t before = r.net.taken().size();
    // The first request is dropped. All later ones take longer than any request before.
    r.net.set_script([&](const packet& p) { return p.number == before ? dropped() : answered(p, 3ms); });
    measured_get lost(1, route(1)), slow(2, route(2)), third(3, route(3));
    for (measured_get* o : {&lost, &slow, &third}) r.mads.submit(*o);
    r.wait(2900us); // both are late now; a probe was sent, which is late, too
    CHECK(r.mads.in_flight() == 3);
    CHECK(r.mads.counters().probes == 1);
    CHECK(r.net.taken().size() == before + 3);
    r.wait(200us); // the second got its reply: the first is lost, and is retried
    CHECK(slow.answered_right());
    CHECK(r.net.taken().size() > before + 3);
    REQUIRE(r.run());
    for (measured_get* o : {&lost, &third}) CHECK(o->answered_right());
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("a MAD that is late by 100 ms is lost, with or without other replies") {
    rig r({.max_outstanding = 2});
    r.net.set_script([](const packet& p) { return p.bytes[129] > 100 ? dropped() : answered(p, 100us); });
    meet(r, 4);
    measured_get dead(1, route(101)), dead_too(2, route(102)), living(3, route(1));
    for (measured_get* o : {&dead, &dead_too, &living}) r.mads.submit(*o);
    r.wait(10ms);
    CHECK(living.sent_times + living.completions == 0);
    CHECK(r.mads.in_flight() == 3); // one of them is a probe
    r.wait(170ms);                  // the retries of both take a second stall, which is shorter
    CHECK(living.answered_right());
    REQUIRE(r.run());
    check_balance(r.mads);
}

TEST_CASE("a lost MAD releases its slot in the window at once") {
    rig r({.max_outstanding = 2});
    meet(r, 4);
    r.net.set_script([](const packet& p) { return p.bytes[129] == 1 ? dropped() : answered(p, 100us); });
    measured_get dead(1, route(1));
    r.mads.submit(dead);
    std::deque<measured_get> others;
    for (u32 i = 0; i < 100; ++i) r.mads.submit(others.emplace_back(10 + i, route(static_cast<u8>(2 + i % 3))));
    r.wait(10ms); // 100 round trips take at least 10 ms with one slot, and 5 ms with two
    for (const measured_get& o : others) CHECK(o.answered_right());
    CHECK(dead.completions == 0);
    REQUIRE(r.run());
    CHECK(dead.ended_as(completion_status::timed_out));
    check_balance(r.mads);
}

TEST_CASE("any number of dead targets leave the whole window to responsive targets") {
    rig r({.max_outstanding = 8});
    r.net.set_script([](const packet& p) { return p.bytes[129] > 100 ? dropped() : answered(p, 100us); });
    meet(r, 4);
    std::deque<measured_get> dead, living;
    for (u32 i = 0; i < 100; ++i) r.mads.submit(dead.emplace_back(i, route(static_cast<u8>(101 + i))));
    for (u32 i = 0; i < 1000; ++i) r.mads.submit(living.emplace_back(1000 + i, route(static_cast<u8>(1 + i % 50))));
    // The first hundred targets are dead. That looks like a wire without any traffic: each stall is shorter than the
    // last.
    const time_point begin = r.net.now();
    r.wait(750ms);
    for (const measured_get& o : living) CHECK(o.answered_right());
    REQUIRE(r.run());
    for (const measured_get& o : dead) {
        CHECK(o.ended_as(completion_status::timed_out));
        CHECK(o.sent_times <= mad::detail::retry_policy::most_to_unknown);
    }
    CHECK(r.net.now() - begin <= usual.first_patience * 11 / 10 + 750ms);
    check_balance(r.mads);
}

TEST_CASE("a MAD whose reply may still arrive keeps its slot in the window after its operation ended") {
    rig r({.max_outstanding = 2, .per_destination = 1});
    meet(r, 3);
    const std::size_t before = r.net.taken().size();
    // The reply to the first attempt arrives late, when a second attempt is in flight.
    r.net.set_script([&](const packet& p) {
        if (p.number == before) return answered(p, 2ms);
        if (p.bytes[129] == 1) return answered(p, 10ms);
        return answered(p, 100us);
    });
    measured_get o(1, route(1)), same_target(2, route(1));
    r.mads.submit(o);
    r.mads.submit(same_target);
    while (o.completions == 0) {
        r.turn();
        REQUIRE(r.advance());
    }
    const std::size_t sent = r.net.taken().size() - before;
    CHECK(sent > 1);
    CHECK(r.mads.in_flight() == sent - 1);
    CHECK(same_target.sent_times == 0); // the target still handles the earlier requests
    REQUIRE(r.run());
    CHECK(same_target.answered_right());
    r.drain();
    CHECK(r.mads.in_flight() == 0);
    check_balance(r.mads);
}

TEST_CASE("a send that the transport returned has no slot in the window") {
    rig r({.max_outstanding = 1});
    r.net.set_script([](const packet& p) {
        return witness::number_of(p.bytes.data()) == 1 ? fate{{}, {report(p, 50us)}} : answered(p);
    });
    operation first(1), second(2);
    r.mads.submit(first);
    r.mads.submit(second);
    r.wait(70us);
    CHECK(second.answered_right());
    CHECK(first.completions == 0);
    REQUIRE(r.run());
    CHECK(first.ended_as(completion_status::timed_out));
    check_balance(r.mads);
}

TEST_CASE("a canceled MAD without a reply keeps its slot at most for the timeout given to the transport") {
    rig r({.max_outstanding = 1});
    r.net.set_script([](const packet& p) { return witness::number_of(p.bytes.data()) == 1 ? dropped() : answered(p); });
    measured_get first(1, route(1)), second(2, route(2));
    r.mads.submit(first);
    r.mads.submit(second);
    r.mads.cancel(first);
    REQUIRE(r.run());
    CHECK(second.answered_right());
    // The second Get was sent as a probe long before: everything was late.
    CHECK(r.net.now() - time_point{} <= usual.first_patience / 100);
    r.wait(2s);
    CHECK(r.mads.in_flight() == 0);
    check_balance(r.mads);
}

TEST_CASE("requests count at their destination until the transport returns them, even after they were abandoned") {
    // Like requests to the SA, which the kernel holds and counts even after the program abandoned them.
    rig r({.max_outstanding = 64});
    std::set<u32> held;
    std::size_t most = 0;
    bool is_silent = true;
    r.net.set_script([&](const packet& p) {
        held.insert(p.tid);
        most = std::max(most, held.size());
        return is_silent ? fate{{}, {report(p, p.operation_timeout)}} : answered(p, 100us);
    });
    r.net.on_delivery = [&](const arrival& a) { held.erase(scripted_transport::tid_of(a.bytes.data())); };
    std::deque<operation> all;
    for (u32 i = 0; i < 100; ++i) {
        operation& o = all.emplace_back(i);
        o.destination = 0x5a;
        o.destination_bound = 4;
        o.counts_attempts = true;
        o.retries = 2;
        r.mads.submit(o);
    }
    r.wait(patience / 2);
    for (u32 i = 0; i < 50; ++i) r.mads.cancel(all[i]); // four of them are in flight
    r.wait(patience);
    CHECK(held.size() == 4);
    is_silent = false;
    REQUIRE(r.run());
    CHECK(most == 4);
    for (u32 i = 0; i < 50; ++i) CHECK(all[i].ended_as(completion_status::cancelled));
    for (u32 i = 50; i < 100; ++i) CHECK(all[i].answered_right());
    check_balance(r.mads);
}

TEST_CASE("timeout times attempts saturates at the largest duration") {
    rig r;
    r.net.set_script([](const packet& p) { return answered(p, 1s); });
    operation o(1);
    o.timeout = duration::max() / 3;
    o.retries = 255;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(r.net.taken()[0].operation_timeout == duration::max());
}

// ---- when everything is late -----------------------------------------------------------------------------------------

TEST_CASE("a paused device gets one probe, and no losses are counted when the device resumes") {
    const unsigned window = GENERATE(1u, 4u, 32u);
    rig r({.max_outstanding = window});
    meet(r, 50);
    counting_device device(r, 50us);
    std::deque<measured_get> all;
    for (u32 i = 0; i < 10 * window; ++i) r.mads.submit(all.emplace_back(i, route(static_cast<u8>(1 + i % 50))));
    r.wait(60us);
    const u64 repeated = r.mads.counters().retried;
    device.pause(5ms); // replies in flight arrive, then nothing for a while
    r.wait(4ms);
    CHECK(device.owes() <= window + 1);
    CHECK(r.mads.counters().retried - repeated <= 1);
    CHECK(r.mads.counters().probes == 1);
    REQUIRE(r.run());
    for (const measured_get& o : all) CHECK(o.answered_right());
    CHECK(r.mads.counters().retried - repeated <= 1);
    CHECK(r.mads.losses().loss() < 0.001);
    CHECK(device.most <= window + 1);
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("deadlines adapt to repeated pauses of a device") {
    rig r({.max_outstanding = 32});
    meet(r, 50);
    counting_device device(r, 50us);
    u32 number = 0;
    std::deque<measured_get> all;
    const auto with_pause = [&] {
        for (u32 i = 0; i < 200; ++i) {
            ++number;
            r.mads.submit(all.emplace_back(number, route(static_cast<u8>(1 + number % 50))));
        }
        r.wait(100us);
        device.pause(2ms);
        REQUIRE(r.run());
        r.drain();
        return r.mads.counters().probes;
    };
    for (int i = 0; i < 20; ++i) with_pause();
    const u64 before = r.mads.counters().probes;
    for (int i = 0; i < 5; ++i) with_pause();
    CHECK(r.mads.counters().probes - before <= 1);
}

TEST_CASE("the number of MADs in a device never exceeds the window plus one probe") {
    const unsigned window = GENERATE(1u, 4u, 32u, 100u, 512u);
    const u32 seed = GENERATE(1u, 2u, 3u);
    CAPTURE(window, seed);
    std::mt19937 random(seed);
    rig r({.max_outstanding = window, .per_destination = 1 + seed % 2});
    counting_device device(r, 80us);
    std::deque<measured_get> all;
    u64 cancelled = 0;
    for (u32 i = 0; i < 5000; ++i) {
        r.mads.submit(all.emplace_back(i, route(static_cast<u8>(1 + i % 250), static_cast<u8>(1 + i / 250))));
        if (random() % 50 == 0) device.pause(duration{static_cast<duration::rep>(random() % 4'000'000)});
        if (random() % 20 == 0) {
            measured_get& any = all[random() % all.size()];
            cancelled += any.completions == 0;
            r.mads.cancel(any);
        }
        if (random() % 4 == 0) r.wait(duration{static_cast<duration::rep>(random() % 200'000)});
    }
    REQUIRE(r.run());
    CHECK(device.most <= window + 1);
    u64 right = 0;
    for (const measured_get& o : all) right += o.answered_right();
    CHECK(right >= 5000 - cancelled);
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("unresponsive targets are probed while the engine is idle, and time out within the time limit") {
    rig r({.max_outstanding = 16});
    meet(r, 4);
    r.net.set_script([](const packet&) { return dropped(); });
    std::deque<measured_get> all;
    for (u32 i = 0; i < 4; ++i) r.mads.submit(all.emplace_back(i, route(static_cast<u8>(1 + i))));
    const time_point begin = r.net.now();
    REQUIRE(r.run());
    for (const measured_get& o : all) {
        CHECK(o.ended_as(completion_status::timed_out));
        CHECK(o.sent_times == 4);
    }
    CHECK(r.net.now() - begin <= usual.patience * 11 / 10);
    CHECK(r.mads.counters().probes == 12);
}

TEST_CASE("a probe without a reply delays no later request") {
    rig r({.max_outstanding = 8});
    meet(r, 8);
    r.net.set_script([](const packet&) { return dropped(); });
    measured_get silent(1, route(1));
    r.mads.submit(silent);
    while (r.mads.counters().probes == 0) r.wait(100us);
    r.mads.cancel(silent); // its requests are late, or will be
    std::deque<operation> operations;
    const u64 probes = r.mads.counters().probes;
    while (r.mads.counters().probes == probes) {
        REQUIRE(operations.size() < 1000);
        operation& o = operations.emplace_back(10 + static_cast<u32>(operations.size()), route(2));
        o.expects_reply = false;
        r.mads.submit(o);
        r.wait(100us);
    }
    r.wait(60s); // the engine has forgotten everything
    REQUIRE(r.mads.in_flight() == 0);
    r.net.set_script([](const packet& p) { return answered(p, 50us); });
    const std::size_t before = r.net.taken().size();
    std::deque<measured_get> all;
    for (u32 i = 0; i < 8; ++i) r.mads.submit(all.emplace_back(2000 + i, route(static_cast<u8>(1 + i))));
    r.turn();
    CHECK(r.net.taken().size() - before == 8);
    REQUIRE(r.run());
}

// ---- slow targets ----------------------------------------------------------------------------------------------------

namespace {

/// One target handles one MAD at a time and takes a fixed time for each, as an SMA does. All others reply at once.
class slow_target {
public:
    slow_target(rig& r, u8 port, duration service) : service_(service) {
        r.net.set_script([this, port](const packet& p) {
            if (p.bytes[129] != port) return answered(p, 50us);
            ++request_count;
            busy_until_ = std::max(busy_until_, p.at) + service_;
            return answered(p, busy_until_ - p.at);
        });
    }
    unsigned request_count = 0;

private:
    duration service_;
    time_point busy_until_{};
};

/// Gets to other targets, one after the other, so that replies arrive all the time.
struct background {
    background(rig& r) : r_(r) {}
    void step() {
        if (!current_ || current_->completions) {
            if (ended) return;
            ++n_;
            current_ = &all_.emplace_back(5'000'000 + n_, route(static_cast<u8>(100 + n_ % 20)));
            r_.mads.submit(*current_);
        }
    }
    bool ended = false;

private:
    rig& r_;
    u32 n_ = 0;
    std::deque<measured_get> all_;
    measured_get* current_ = nullptr;
};

void run_beside(rig& r, background& others, const measured_get& o) {
    while (o.completions == 0) {
        others.step();
        r.turn();
        if (r.mads.has_ready()) continue;
        REQUIRE(r.advance());
    }
}

} // namespace

TEST_CASE("a slow target gets three attempts at most, then one attempt per reply") {
    const duration service = GENERATE(10ms, 20ms, 60ms, 100ms, 150ms, 300ms, 900ms);
    CAPTURE(service.count());
    rig r({.max_outstanding = 16, .per_destination = 1});
    slow_target slow(r, 7, service);
    background others(r);
    std::deque<measured_get> all;
    const auto send_query = [&] {
        measured_get& o = all.emplace_back(static_cast<u32>(all.size()), route(7));
        r.mads.submit(o);
        run_beside(r, others, o);
        CHECK(o.answered_right());
    };
    for (u32 i = 0; i < 20; ++i) { // the other targets are fast
        measured_get other(1'000'000 + i, route(100));
        r.mads.submit(other);
        REQUIRE(r.run());
    }
    send_query();
    CHECK(slow.request_count <= 3);
    const unsigned first = slow.request_count;
    for (int i = 0; i < 20; ++i) send_query();
    CHECK(slow.request_count - first <= 24); // 1.2 attempts per Get
    others.ended = true;
    REQUIRE(r.run());
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("a reply to any attempt measures the round-trip time") {
    // Only the second of three attempts arrives at the target, and its reply comes when the third is in flight.
    rig r({.max_outstanding = 4});
    for (u32 i = 0; i < 20; ++i) {
        measured_get other(1000 + i, route(2));
        r.mads.submit(other);
        REQUIRE(r.run());
    }
    const std::size_t before = r.net.taken().size();
    std::optional<std::size_t> second;
    std::size_t to_it = 0;
    r.net.set_script([&](const packet& p) {
        if (p.bytes[129] != 1) return answered(p);
        ++to_it;
        if (to_it == 2) {
            second = p.number;
            return answered(p, 5ms);
        }
        return dropped();
    });
    background others(r);
    measured_get o(1, route(1));
    r.mads.submit(o);
    run_beside(r, others, o);
    CHECK(o.answered_right());
    CHECK(o.sent_times == 3);
    const auto expected = r.mads.measured().expect(mad::destination_key(o.to), 1);
    CHECK(expected.deadline > 5ms); // not the time since the first attempt
    CHECK(expected.deadline < 20ms);
    CHECK(r.net.taken().size() > before);
    others.ended = true;
    REQUIRE(r.run());
}

TEST_CASE("a round trip starts at the time of the send, even if the clock advances between updates", "[bare]") {
    // A driver reads the clock once for many MADs. Tasks may compute for a long time before the send, and the reply can
    // be available before the next reading.
    static time_point clock;
    rig r;
    r.mads.use_clock([]() noexcept { return clock; });
    r.net.set_script([](const packet& p) { return answered(p, duration{0}); });
    clock = time_point{1s};
    r.set_now(clock);
    clock += 30ms;
    measured_get o(1, route(1));
    r.mads.submit(o);
    clock += 10ms;
    r.set_now(clock);
    r.turn();
    CHECK(o.answered_right());
    const auto expected = r.mads.measured().expect(mad::destination_key(o.to), 1);
    CHECK(expected.deadline > 10ms);
    CHECK(expected.deadline < 40ms);
}

TEST_CASE("every target that replies after its timeout completes its query, whatever the order of the queries") {
    const unsigned window = GENERATE(1u, 16u);
    rig r({.max_outstanding = window});
    meet(r, 5);
    r.net.set_script([](const packet& p) { return answered(p, 5s); });
    std::deque<measured_get> all;
    for (u32 i = 0; i < 5; ++i) {
        measured_get& o = all.emplace_back(i, route(static_cast<u8>(1 + i)));
        r.mads.submit(o);
        if (window == 1) REQUIRE(r.run()); // one after the other, in the same slot
    }
    REQUIRE(r.run());
    for (const measured_get& o : all) CHECK(o.ended_as(completion_status::timed_out));
    for (u32 i = 0; i < 5; ++i) CHECK(r.mads.measured().is_unresponsive(mad::destination_key(all[i].to)));
    r.drain();
    CHECK(r.mads.counters().revived == 5);
    for (u32 i = 0; i < 5; ++i) CHECK(!r.mads.measured().is_unresponsive(mad::destination_key(all[i].to)));
}

TEST_CASE("the timeout given to the transport covers the time limit of slow targets") {
    rig r({.max_outstanding = 4});
    meet(r, 1, 20);
    measured_get known(1, route(1)), unknown(2, route(9));
    r.mads.submit(known);
    r.mads.submit(unknown);
    REQUIRE(r.run());
    for (const std::size_t i : {std::size_t{20}, std::size_t{21}}) {
        CHECK(r.net.taken()[i].attempt_timeout < 1ms);
        CHECK(r.net.taken()[i].operation_timeout >= usual.first_patience);
    }
}

// ---- matching replies to requests ------------------------------------------------------------------------------------

TEST_CASE("a reply to another request with the transaction ID of this request is rejected") {
    rig r;
    measured_get o(7, route(1, 2));
    r.net.set_script([](const packet& p) {
        std::vector<arrival> wrong;
        for (const std::size_t at : {std::size_t{23}, std::size_t{4}, std::size_t{7}, std::size_t{130}}) {
            wrong.push_back(reply(p, 1us)); // modifier, D bit, hopCount, second hop
            wrong.back().bytes[at] ^= at == 4 ? 0x80 : 0x01;
        }
        wrong.push_back(reply(p, 2us));
        return fate{{}, wrong};
    });
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(r.mads.counters().mismatched == 4);
}

TEST_CASE("the match of replies includes the last hops of a 63-hop route") {
    IBDRPath longest;
    for (u8 i = 1; i <= 63; ++i) longest = longest.extended(i);
    rig r;
    measured_get o(7, longest);
    r.net.set_script([](const packet& p) {
        fate f{{}, {reply(p, 1us), reply(p, 2us)}};
        f.arrivals[0].bytes[128 + 63] ^= 1;
        return f;
    });
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::replied));
    CHECK(r.mads.counters().mismatched == 1);
}

TEST_CASE("a Get that waits for the window after BUSY keeps all its attempts") {
    rig r({.max_outstanding = 1});
    meet(r, 1);
    const std::size_t before = r.net.taken().size();
    r.net.set_script([&](const packet& p) {
        fate f = answered(p, 100us);
        f.arrivals[0].bytes[5] = 1; // BUSY (IBA 13.4.7)
        return p.number == before ? f : dropped();
    });
    measured_get o(1, route(1));
    o.busy_retries = 5;
    operation other(2, route(2)); // occupies the only slot from then on
    other.timeout = 60s;
    other.retries = 0;
    r.mads.submit(o);
    r.mads.submit(other);
    REQUIRE(r.run());
    CHECK(other.ended_as(completion_status::timed_out));
    CHECK(o.ended_as(completion_status::timed_out));
    CHECK(o.sent_times == 1 + 4); // 1: BUSY; 4: see docs/explanation/adaptive-retries.md
    const mad::duration held = mad::detail::deadlines::rounded(60s);
    CHECK(r.net.taken().back().at - r.net.taken()[before + 1].at > held);
    CHECK(r.net.now() - r.net.taken()[before + 1].at < held + usual.first_patience * 3 / 2);
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("each operation has all its BUSY retries, regardless of the previous operation in its slot") {
    rig r({.max_outstanding = 1});
    unsigned sent = 0;
    r.net.set_script([&](const packet& p) {
        fate f = answered(p);
        if (sent++ % 2 == 0) f.arrivals[0].bytes[5] = 1; // BUSY (IBA 13.4.7)
        return f;
    });
    for (u32 number : {1u, 2u, 3u}) {
        operation o(number, route(1));
        o.busy_retries = 1;
        r.mads.submit(o);
        REQUIRE(r.run());
        CHECK(sent == 2 * number);
    }
}
