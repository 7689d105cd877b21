// SPDX-License-Identifier: MIT
// engine_ending_test.cpp - rejected sends, operations that are canceled or withdrawn, and random combinations of
// everything.
#include "library/engine_rig.hpp"

#include <cerrno>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace comad;
using namespace comad::test;

// ---- rejected sends ------------------------------------------------------------------------------------------------

TEST_CASE("a rejected send ends only its own operation with the errno, and not inside submit") {
    rig r({.max_outstanding = 2});
    r.net.set_script(
        [](const packet& p) { return witness::number_of(p.bytes.data()) % 2 ? refused(EINVAL) : answered(p); });
    std::deque<operation> all;
    for (u32 i = 0; i < 10; ++i) {
        r.mads.submit(all.emplace_back(i));
        CHECK(all.back().completions == 0);
    }
    REQUIRE(r.run());
    for (u32 i = 0; i < 10; ++i) {
        if (i % 2) {
            CHECK(all[i].ended_as(completion_status::send_failed));
            CHECK(all[i].error_code == EINVAL);
        } else {
            CHECK(all[i].answered_right());
        }
    }
    CHECK(r.mads.counters().send_failed == 5);
    CHECK(r.mads.counters().sent == 5);
    check_balance(r.mads);
}

TEST_CASE("a rejected retry ends the operation") {
    rig r;
    r.net.set_script([](const packet& p) { return p.number == 0 ? dropped() : refused(ENODEV); });
    operation o(7);
    o.retries = 5;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::send_failed));
    CHECK(o.error_code == ENODEV);
    CHECK(r.mads.counters().lost == 1);
    check_balance(r.mads);
}

TEST_CASE("blocked sends leave in order when the transport accepts them") {
    rig r({.max_outstanding = 8});
    r.net.set_script([](const packet& p) { return p.number < 5 ? blocked() : answered(p); });
    std::deque<operation> all;
    for (u32 i = 0; i < 20; ++i) r.mads.submit(all.emplace_back(i));
    CHECK(r.net.taken().empty());
    REQUIRE(r.run());
    REQUIRE(r.net.taken().size() == 20);
    for (u32 i = 0; i < 20; ++i) CHECK(witness::number_of(r.net.taken()[i].bytes.data()) == i);
    for (const operation& o : all) CHECK(o.answered_right());
    CHECK(r.mads.counters().would_block == 1);
}

TEST_CASE("the timeout of a blocked send starts when the transport accepts the send") {
    rig r;
    const duration until = patience / 2;
    r.net.set_script(
        [&](const packet& p) { return p.at < time_point{until} ? blocked(until) : answered(p, kept_patience - 1us); });
    operation o(7);
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
}

TEST_CASE("operations on a transport that blocks forever time out on schedule, whatever else arrives") {
    const bool traffic = GENERATE(false, true);
    rig r({.max_outstanding = 2});
    r.net.set_script([](const packet&) { return fate{{mad::send_state::would_block, 0}, {}}; });
    std::deque<operation> all;
    for (u32 i = 0; i < 4; ++i) {
        all.emplace_back(i).retries = 2;
        r.mads.submit(all.back());
    }
    if (traffic)
        for (int i = 0; i < 1000; ++i) r.net.inject({i * 10us, std::vector<u8>(100)});
    r.wait(3 * kept_patience);
    CHECK(all[0].ended_as(completion_status::timed_out));
    CHECK(all[1].ended_as(completion_status::timed_out));
    CHECK(all[0].sent_times == 0);
    r.wait(3 * kept_patience);
    CHECK(all[2].ended_as(completion_status::timed_out));
    CHECK(all[3].ended_as(completion_status::timed_out));
    CHECK(r.mads.counters().sent == 0);
    CHECK(r.mads.counters().send_failed == 4);
    check_balance(r.mads);
}

TEST_CASE("a transport failure ends all operations") {
    rig r({.max_outstanding = 4, .per_destination = 1});
    bool gone = false;
    r.net.set_script([&](const packet&) { return gone ? refused(ENODEV) : dropped(); });
    std::deque<operation> all;
    for (u32 i = 0; i < 20; ++i) r.mads.submit(all.emplace_back(i, route(static_cast<u8>(1 + i % 5))).bounded());
    r.net.inject(failure(10us, ENODEV));
    gone = true;
    REQUIRE(r.run());
    CHECK(r.net.now() == time_point{10us});
    unsigned in_flight = 0;
    for (const operation& o : all) {
        CHECK(o.completions == 1);
        CHECK(o.error_code == ENODEV);
        in_flight += o.what == completion_status::transport_failed;
    }
    CHECK(in_flight == 4);
    CHECK(r.mads.counters().lost == 4);
    CHECK(r.mads.counters().send_failed == 16);
    check_balance(r.mads);
}

TEST_CASE("a hundred thousand operations on a dead transport end without deep recursion") {
    const bool refuses = GENERATE(false, true);
    rig r({.max_outstanding = 16});
    r.net.keep_packets(false);
    r.net.set_script([&](const packet&) { return refuses ? refused(ENODEV) : dropped(); });
    std::deque<operation> all;
    for (u32 i = 0; i < 50000; ++i) {
        all.emplace_back(i);
        r.mads.submit(all.back());
    }
    for (u32 i = 0; i < 50000; ++i) { // each of these operations submits another one when it ends
        all[i].then = [&, i] { r.mads.submit(all.emplace_back(50000 + i)); };
    }
    REQUIRE(r.run());
    CHECK(all.size() == 100000);
    const completion_status expected = refuses ? completion_status::send_failed : completion_status::timed_out;
    CHECK(std::all_of(all.begin(), all.end(), [&](const operation& o) { return o.ended_as(expected); }));
    check_balance(r.mads);
}

// ---- canceling and withdrawing ---------------------------------------------------------------------------------------

namespace {

/// One operation in each possible state, and one that waits for the slot or the destination that it occupies.
struct placed {
    enum place { in_flight, blocked_in_slot, waiting, parked, refused_in_slot, cancelled_already };
    explicit placed(place where) : r({.max_outstanding = where == parked ? 2u : 1u, .per_destination = 1}) {
        r.net.set_script([this, where](const packet& p) {
            const u32 number = witness::number_of(p.bytes.data());
            if (number == 2 && where == refused_in_slot) return refused(EINVAL);
            if (number == 2 && where == blocked_in_slot && !unblocked) return blocked();
            return answered(p);
        });
        if (where == waiting || where == parked) r.mads.submit(before.bounded());
        r.mads.submit(it->bounded());
        if (where == cancelled_already) r.mads.cancel(*it);
        r.mads.submit(after.bounded());
    }
    bool unblocked = false;
    rig r;
    operation before{1, route(1)};
    std::unique_ptr<operation> it = std::make_unique<operation>(2, route(1));
    operation after{3, route(1)};
};

constexpr std::initializer_list<placed::place> places{placed::in_flight,       placed::blocked_in_slot,
                                                      placed::waiting,         placed::parked,
                                                      placed::refused_in_slot, placed::cancelled_already};

} // namespace

TEST_CASE("a canceled operation ends as canceled in every state, and not inside cancel") {
    const auto where = GENERATE(values(places));
    CAPTURE(where);
    placed p(where);
    p.r.mads.cancel(*p.it);
    p.r.mads.cancel(*p.it); // no effect
    p.unblocked = true;
    CHECK(p.it->completions == 0);
    REQUIRE(p.r.run());
    CHECK(p.it->completions == 1);
    CHECK(p.it->what ==
          (where == placed::refused_in_slot ? completion_status::send_failed : completion_status::cancelled));
    CHECK(p.after.answered_right());
    if (where == placed::waiting || where == placed::parked) CHECK(p.before.answered_right());
    CHECK(p.r.mads.counters().cancelled ==
          (where == placed::in_flight || where == placed::cancelled_already ? 1u : 0u));
    p.r.drain();
    check_balance(p.r.mads);
}

TEST_CASE("an operation whose owner is destroyed is withdrawn in every state and never completes") {
    const auto where = GENERATE(values(places));
    CAPTURE(where);
    placed p(where);
    p.it->then = [] { FAIL("ended after it was withdrawn"); };
    p.r.mads.withdraw(*p.it);
    p.r.mads.withdraw(*p.it); // no effect
    CHECK(p.it->completions == 0);
    p.it.reset(); // a sanitizer detects a later use
    p.unblocked = true;
    REQUIRE(p.r.run());
    CHECK(p.after.answered_right());
    if (where == placed::waiting || where == placed::parked) CHECK(p.before.answered_right());
    p.r.drain();
    check_balance(p.r.mads);
}

TEST_CASE("a canceled request counts in the window until its reply arrives, and the reply is stale") {
    rig r({.max_outstanding = 1});
    operation first(1), second(2);
    r.mads.submit(first);
    r.mads.submit(second);
    CHECK(r.net.taken().size() == 1);
    r.mads.cancel(first);
    r.turn();
    CHECK(first.ended_as(completion_status::cancelled));
    CHECK(r.net.taken().size() == 1);
    CHECK(r.mads.in_flight() == 1);
    REQUIRE(r.run());
    REQUIRE(r.net.taken().size() == 2);
    CHECK(r.net.taken()[1].at == time_point{round_trip});
    CHECK(second.answered_right());
    CHECK(r.mads.counters().stale == 1);
    CHECK(r.mads.in_flight() == 0);
}

TEST_CASE("a completed operation can be canceled, withdrawn and submitted again") {
    rig r;
    operation o(1);
    r.mads.submit(o);
    REQUIRE(r.run());
    r.mads.cancel(o);
    r.mads.withdraw(o);
    REQUIRE(r.run());
    CHECK(o.completions == 1);
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.completions == 2);
    CHECK(o.sent_times == 1);
}

TEST_CASE("a completion handler can cancel, withdraw and submit other operations") {
    // All are rejected, so that all of them end in one run_ready. The first one acts on the others.
    rig r({.max_outstanding = 8});
    r.net.set_script([](const packet& p) { return p.number < 4 ? refused(EINVAL) : answered(p); });
    operation first(1), third(3), later(4);
    auto second = std::make_unique<operation>(2);
    operation fourth(5);
    first.then = [&] {
        r.mads.withdraw(*second);
        second.reset();
        r.mads.cancel(third); // already ended: it keeps its status
        r.mads.submit(later);
    };
    for (operation* o : {&first, second.get(), &third, &fourth}) r.mads.submit(*o);
    REQUIRE(r.run());
    CHECK(first.ended_as(completion_status::send_failed));
    CHECK(third.ended_as(completion_status::send_failed));
    CHECK(fourth.ended_as(completion_status::send_failed));
    CHECK(later.answered_right());
}

TEST_CASE("a completion handler can destroy its operation") {
    rig r({.max_outstanding = 2});
    std::map<u32, std::unique_ptr<operation>> all;
    for (u32 i = 0; i < 20; ++i) {
        all[i] = std::make_unique<operation>(i);
        // A copy of the index, because the closure is destroyed with the operation.
        all[i]->then = [&all, i] {
            auto& owners = all;
            const u32 mine = i;
            owners.erase(mine);
        };
        r.mads.submit(*all[i]);
    }
    REQUIRE(r.run());
    CHECK(all.empty());
}

TEST_CASE("run_ready completes only operations that were ready at the call") {
    rig r;
    r.net.set_script([](const packet&) { return refused(EINVAL); });
    operation first(1), second(2);
    first.then = [&] { r.mads.submit(second); };
    r.mads.submit(first);
    r.mads.run_ready();
    CHECK(first.completions == 1);
    CHECK(second.completions == 0);
    CHECK(r.mads.has_ready());
    r.mads.run_ready();
    CHECK(second.completions == 1);
}

// ---- random combinations ---------------------------------------------------------------------------------------------

TEST_CASE("every operation completes once with the right result, and the counters balance, under random faults") {
    const u32 seed = GENERATE(range(1u, 41u));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto one_in = [&](u32 n) { return random() % n == 0; };
    const auto up_to = [&](u32 most) { return static_cast<u32>(random()) % (most + 1); };
    rig r({.max_outstanding = 1 + up_to(19), .per_destination = up_to(3), .seed = up_to(~1u)});
    r.net.keep_packets(false);
    r.net.set_script([&](const packet& p) {
        if (one_in(30)) return refused(EINVAL);
        if (one_in(10)) return blocked(duration{random() % 100000});
        fate f;
        if (one_in(20)) f.arrivals.push_back(report(p, duration{random() % 2000000}, one_in(4) ? EIO : ETIMEDOUT));
        if (one_in(10)) f.arrivals.push_back({duration{random() % 100000}, std::vector<u8>(random() % 400)});
        while (!one_in(3)) f.arrivals.push_back(reply(p, duration{1000 + random() % (one_in(10) ? 3000000 : 30000)}));
        return f;
    });
    std::vector<std::unique_ptr<operation>> all;
    u64 withdrawn = 0;
    for (u32 i = 0; i < 1000; ++i) {
        all.push_back(std::make_unique<operation>(i, route(static_cast<u8>(1 + random() % 6))));
        operation& o = *all.back();
        if (!one_in(3)) o.bounded();
        o.retries = static_cast<u8>(random() % 4);
        o.expects_reply = !one_in(10);
        const auto meddle = [&] {
            operation* other = all[random() % all.size()].get();
            if (!other) return;
            if (one_in(2)) return r.mads.cancel(*other);
            if (other->completions) return; // it can be the operation that is ending just now
            r.mads.withdraw(*other);
            all[other->number].reset();
            ++withdrawn;
        };
        o.then = [&, meddle] {
            if (one_in(10)) meddle();
        };
        r.mads.submit(o);
        if (one_in(20)) meddle();
        if (one_in(5)) {
            r.turn();
            r.advance();
        }
        REQUIRE(r.mads.in_flight() <= r.mads.window());
    }
    REQUIRE(r.run());
    r.drain();
    REQUIRE(r.mads.idle());
    u64 ended = 0;
    for (const auto& o : all) {
        if (!o) continue;
        ++ended;
        REQUIRE(o->completions == 1);
        if (o->what == completion_status::replied) REQUIRE(o->answered_right());
        if (!o->expects_reply) REQUIRE(o->what != completion_status::replied);
    }
    CHECK(ended + withdrawn == 1000);
    check_balance(r.mads);
}
