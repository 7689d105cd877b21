// SPDX-License-Identifier: MIT
// engine_attempts_test.cpp - retries, transaction IDs, late, duplicate, foreign and corrupted packets, and sends that
// the transport returns.
#include "library/engine_rig.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::test;

// ---- attempts -------------------------------------------------------------------------------------------------------

TEST_CASE("a retry differs from the first attempt only in its transaction ID") {
    rig r;
    r.net.set_script([](const packet&) { return dropped(); });
    operation o(7, route(1, 2));
    o.retries = 3;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    CHECK(o.sent_times == 4);

    REQUIRE(r.net.taken().size() == 4);
    std::set<u32> tids;
    for (const packet& p : r.net.taken()) {
        tids.insert(p.tid);
        mad_bytes same = p.bytes;
        std::copy_n(r.net.taken()[0].bytes.begin() + 12, 4, same.begin() + 12);
        CHECK(same == r.net.taken()[0].bytes);
    }
    CHECK(tids.size() == 4);
    CHECK(r.mads.counters().sent == 1);
    CHECK(r.mads.counters().retried == 3);
    CHECK(r.mads.counters().timed_out == 1);
}

TEST_CASE("every attempt waits for its whole timeout, and the operation ends after the last one") {
    rig r;
    r.net.set_script([](const packet&) { return dropped(); });
    operation o(7);
    o.retries = 2;
    r.set_now(time_point{5s});
    r.mads.submit(o);
    time_point ended;
    o.then = [&] { ended = r.net.now(); };
    REQUIRE(r.run());
    REQUIRE(r.net.taken().size() == 3);
    for (int i = 0; i < 3; ++i) {
        CHECK(r.net.taken()[static_cast<std::size_t>(i)].at == time_point{5s} + i * kept_patience);
        CHECK(r.net.taken()[static_cast<std::size_t>(i)].attempt_timeout == patience);
        CHECK(r.net.taken()[static_cast<std::size_t>(i)].operation_timeout == (3 - i) * patience);
    }
    CHECK(ended == time_point{5s} + 3 * kept_patience);
}

TEST_CASE("a late reply to an earlier attempt completes the operation") {
    rig r;
    r.net.set_script([](const packet& p) { return p.number == 0 ? answered(p, kept_patience + 10us) : dropped(); });
    operation o(7);
    o.retries = 1;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(o.sent_times == 2);
    CHECK(r.mads.counters().late_replies == 1);
    CHECK(r.mads.counters().replied == 1);
    check_balance(r.mads);
}

TEST_CASE("a reply that arrives exactly at the deadline is in time") {
    rig r;
    r.net.set_script([](const packet& p) { return answered(p, kept_patience); });
    operation o(7);
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
}

TEST_CASE("a reply to an expired operation is counted as stale") {
    rig r;
    r.net.set_script([](const packet& p) { return answered(p, 3 * kept_patience); });
    operation o(7);
    o.retries = 1;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    r.drain();
    CHECK(o.completions == 1);
    CHECK(r.mads.counters().stale == 2);
    check_balance(r.mads);
}

TEST_CASE("a stale reply does not affect the operation that now uses its slot") {
    rig r({.max_outstanding = 1});
    // The reply to the first attempt arrives too late, and the reply to the second arrives long after it.
    r.net.set_script([](const packet& p) { return answered(p, kept_patience + (p.number == 0 ? 10us : 100us)); });
    operation first(1), second(2);
    second.timeout = 10ms;
    r.mads.submit(first);
    r.mads.submit(second);
    REQUIRE(r.run());
    CHECK(first.ended_as(completion_status::timed_out));
    CHECK(second.answered_right());
    CHECK(r.mads.counters().stale == 1);
}

TEST_CASE("the first of several duplicate replies completes the operation") {
    rig r;
    r.net.set_script([](const packet& p) { return fate{{}, {reply(p), reply(p), reply(p, 20us)}}; });
    std::deque<operation> all;
    for (u32 i = 0; i < 100; ++i) r.mads.submit(all.emplace_back(i));
    REQUIRE(r.run());
    r.drain();
    for (const operation& o : all) CHECK(o.answered_right());
    CHECK(r.mads.counters().replied == 100);
    CHECK(r.mads.counters().stale == 200);
}

TEST_CASE("an operation that expects no reply completes when it was sent") {
    rig r({.max_outstanding = 1});
    operation first(1), second(2);
    first.expects_reply = second.expects_reply = false;
    r.mads.submit(first);
    r.mads.submit(second);
    CHECK(first.completions == 0); // not inside submit
    REQUIRE(r.run());
    CHECK(first.ended_as(completion_status::sent));
    CHECK(second.ended_as(completion_status::sent));
    CHECK(r.net.taken().size() == 2);
    CHECK(!r.net.taken()[0].expects_reply);
    CHECK(r.mads.counters().unanswered == 2);
    CHECK(r.mads.counters().sent == 0);
}

TEST_CASE("transaction IDs stay unique when the generation counter wraps") {
    struct setting {
        unsigned window;
        u32 seed;
    };
    // Generations have 32, 30 or 16 bits. All of them wrap within the first hundred attempts of a slot.
    const auto s = GENERATE(
        values<setting>({{1, 0xffffffd0}, {4, 0x3fffffd0}, {4, 0xffffffd0}, {65536, 0xffd0}, {65536, 0xffffffd0}}));
    CAPTURE(s.window, s.seed);
    rig r({.max_outstanding = s.window, .seed = s.seed});
    // Every third attempt is lost. Every fifth gets a late reply, when the next attempt is in flight.
    r.net.set_script([](const packet& p) {
        if (p.number % 3 == 0) return dropped();
        return answered(p, p.number % 5 == 0 ? kept_patience + 10us : round_trip);
    });
    std::deque<operation> all;
    for (u32 i = 0; i < 500; ++i) {
        all.emplace_back(i).retries = 10;
        r.mads.submit(all.back());
        REQUIRE(r.run()); // one at a time, so that one slot serves all operations
    }
    for (const operation& o : all) CHECK(o.answered_right());
    std::set<u32> tids;
    for (const packet& p : r.net.taken()) CHECK(tids.insert(p.tid).second);
    CHECK(tids.size() > 700);
    CHECK(r.mads.counters().late_replies > 20);
    r.drain();
    check_balance(r.mads);
}

TEST_CASE("all transaction IDs in flight are distinct") {
    const unsigned window = GENERATE(1u, 3u, 64u, 1000u);
    rig r({.max_outstanding = window, .seed = 0xffffff00});
    std::deque<operation> all;
    for (u32 i = 0; i < 5000; ++i) r.mads.submit(all.emplace_back(i));
    REQUIRE(r.run());
    std::set<u32> tids;
    for (const packet& p : r.net.taken()) tids.insert(p.tid);
    CHECK(tids.size() == 5000);
}

// ---- unsolicited packets --------------------------------------------------------------------------------------------

TEST_CASE("random bytes of any length do not disturb the engine") {
    rig r({.max_outstanding = 4});
    std::mt19937 random(1);
    operation o(7, route(1));
    o.timeout = 1s;
    r.net.set_script([](const packet& p) { return answered(p, 500ms); });
    r.mads.submit(o);
    const packet request = r.net.taken().at(0);
    const mad_bytes good = answer_to(request);

    for (std::size_t size = 0; size <= 400; ++size) {
        std::vector<u8> bytes(size);
        std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<u8>(random()); });
        r.net.inject({1us, bytes}); // random bytes
        for (std::size_t i = 12; i < std::min<std::size_t>(16, size); ++i) bytes[i] = request.bytes[i];
        r.net.inject({1us, bytes}); // random bytes with our transaction ID
        if (size == mad::mad_size) continue;
        std::copy_n(good.begin(), std::min(size, good.size()), bytes.begin());
        r.net.inject({1us, bytes}); // the reply itself, truncated or with extra bytes
    }
    r.wait(1ms);
    CHECK(o.completions == 0);
    const mad::engine_counters& c = r.mads.counters();
    CHECK(c.malformed + c.mismatched + c.stale == 3 * 401 - 1);
    CHECK(c.replied == 0);

    REQUIRE(r.run());
    CHECK(o.answered_right());
    check_balance(r.mads);
}

TEST_CASE("a packet with a known transaction ID that does not match the request is counted as mismatched") {
    rig r;
    operation o(7, route(1));
    r.net.set_script([](const packet& p) {
        std::vector<arrival> wrong;
        for (const auto& [at, value] : {std::pair{0, 2}, {1, 0x01}, {3, 0x01}, {3, 0x12}, {3, 0x92}, {17, 0x15}}) {
            wrong.push_back(reply(p, 1us));
            wrong.back().bytes[static_cast<std::size_t>(at)] = static_cast<u8>(value);
        }
        wrong.push_back(reply(p, 2us));
        return fate{{}, wrong};
    });
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(r.mads.counters().mismatched == 6);
}

TEST_CASE("a packet with an unknown transaction ID is counted as stale") {
    rig r({.max_outstanding = 5});
    operation o(7);
    r.net.set_script([](const packet& p) {
        fate f;
        const auto add = [&](u32 tid, duration after) {
            f.arrivals.push_back(reply(p, after));
            for (int i = 0; i < 4; ++i) f.arrivals.back().bytes[12u + i] = static_cast<u8>(tid >> (24 - 8 * i));
        };
        for (u32 bit = 0; bit < 32; ++bit) add(p.tid ^ u32{1} << bit, 1us); // other slots and other generations
        for (u32 tid = 0; tid < 256; ++tid)
            if (tid != p.tid) add(tid, 1us);
        add(p.tid, 2us);
        return f;
    });
    r.mads.submit(o);
    const u32 tid = r.net.taken()[0].tid;
    const u64 added = 32 + (tid < 256 ? 255u : 256u);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    CHECK(r.mads.counters().stale == added);
}

TEST_CASE("a reply to a request that was never sent is counted as stale") {
    rig r;
    operation o(7);
    packet offered{};
    r.net.set_script([&](const packet& p) {
        offered = p;
        return blocked();
    });
    r.mads.submit(o);
    r.net.inject(reply(offered, 1us));
    r.net.set_now(time_point{1us});
    const mad::received guess = r.net.receive(r.buffer);
    r.mads.on_received(guess);
    CHECK(o.completions == 0);
    CHECK(r.mads.counters().stale == 1);
    r.net.set_script([](const packet& p) { return answered(p); });
    REQUIRE(r.run());
    CHECK(o.answered_right());
    check_balance(r.mads);
}

TEST_CASE("a fault in one packet of a sweep never makes a result wrong") {
    enum class fault { drop, duplicate, delay, reorder, garble, cut, report };
    const fault m =
        GENERATE(fault::drop, fault::duplicate, fault::delay, fault::reorder, fault::garble, fault::cut, fault::report);
    for (std::size_t hit = 0; hit < 200; ++hit) {
        rig r({.max_outstanding = 8});
        r.net.keep_packets(false);
        r.net.set_script([&](const packet& p) {
            fate f = answered(p);
            if (p.number != hit) return f;
            switch (m) {
            case fault::drop: return dropped();
            case fault::duplicate: f.arrivals.push_back(reply(p, 15us)); break;
            // The reply to the retry can arrive earlier or later.
            case fault::delay: f.arrivals[0].after = kept_patience + 5us; break;
            case fault::reorder: f.arrivals[0].after = 25us; break;
            case fault::garble: std::fill_n(f.arrivals[0].bytes.begin() + hit, 56, u8{0xa5}); break;
            case fault::cut: f.arrivals[0].bytes.resize(hit); break;
            case fault::report: f.arrivals[0] = report(p, 5us); break;
            }
            return f;
        });
        std::deque<operation> all;
        for (u32 i = 0; i < 200; ++i) {
            all.emplace_back(i, route(static_cast<u8>(1 + i % 11))).bounded().retries = 2;
            r.mads.submit(all.back());
        }
        REQUIRE(r.run());
        r.drain();
        // A MAD has no checksum of its own: the engine accepts corrupted bytes after the header.
        const bool believed = m == fault::garble && hit >= 18;
        const auto right = std::count_if(all.begin(), all.end(), [](const operation& o) { return o.answered_right(); });
        CAPTURE(hit);
        REQUIRE(right >= (believed ? 199 : 200));
        for (const operation& o : all) REQUIRE(o.ended_as(completion_status::replied));
        check_balance(r.mads);
    }
}

// ---- sends that the transport returns ------------------------------------------------------------------------------

TEST_CASE("attempts lost while a later attempt was in flight release their slots") {
    rig r({.max_outstanding = 4}); // the engine has space for 1,024 attempts
    std::mt19937 random(3);
    // Targets become slow and fast again, so that a later attempt is sent while a reply to an earlier one may still
    // arrive.
    r.net.set_script([&](const packet& p) {
        return random() % 2 == 0 ? dropped() : answered(p, duration{100'000 + random() % 400'000});
    });
    std::deque<measured_get> all;
    for (u32 i = 0; i < 60'000; ++i) {
        all.emplace_back(i, route(static_cast<u8>(1 + i % 10)));
        r.mads.submit(all.back());
    }
    REQUIRE(r.run());
    CHECK(std::all_of(all.begin(), all.end(), [](const measured_get& o) { return o.completions == 1; }));
    CHECK(r.mads.counters().retried > 4 * 1024);
    check_balance(r.mads);
}

TEST_CASE("a send that the transport reports as expired is retried when its own timeout ends") {
    rig r;
    r.net.set_script([](const packet& p) { return p.number == 0 ? fate{{}, {report(p, 100us)}} : answered(p); });
    operation o(7);
    o.retries = 1;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.answered_right());
    REQUIRE(r.net.taken().size() == 2);
    CHECK(r.net.taken()[1].at == time_point{kept_patience});
    CHECK(r.mads.counters().expired_reports == 1);
}

TEST_CASE("a transport that returns every send at once does not accelerate the retries") {
    const std::size_t size = GENERATE(24u, 256u); // kernels return the header, ibsim returns the MAD
    rig r;
    r.net.set_script([&](const packet& p) { return fate{{}, {report(p, 1us, ETIMEDOUT, size)}}; });
    operation o(7, route(1));
    o.retries = 15;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    CHECK(o.sent_times == 16);
    for (std::size_t i = 1; i < 16; ++i) CHECK(r.net.taken()[i].at - r.net.taken()[i - 1].at == kept_patience);
    CHECK(r.net.now() == time_point{16 * kept_patience});
    check_balance(r.mads);
}

TEST_CASE("a send report that arrives before the next clock update does not block the retry") {
    // The report is handled in the same turn in which the request was sent. The clock was not updated in between.
    rig r;
    r.net.set_script([](const packet& p) { return p.number == 0 ? fate{{}, {report(p, 0us)}} : dropped(); });
    r.set_now(time_point{5s});
    operation o(7, route(1));
    o.retries = 1;
    r.mads.submit(o);
    r.turn();
    CHECK(r.mads.counters().expired_reports == 1);
    CHECK(o.completions == 0);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::timed_out));
    CHECK(r.net.now() == time_point{5s} + 2 * kept_patience);
}

TEST_CASE("send reports of superseded attempts and of completed operations are ignored") {
    rig r;
    r.net.set_script([&](const packet& p) {
        if (p.number == 0) return fate{{}, {report(p, kept_patience + 1us), report(p, 1s)}};
        return answered(p);
    });
    operation o(7);
    o.retries = 5;
    r.mads.submit(o);
    REQUIRE(r.run());
    r.drain();
    CHECK(o.answered_right());
    CHECK(r.net.taken().size() == 2);
    CHECK(r.mads.counters().expired_reports == 2);
    CHECK(r.mads.counters().stale == 0);
    check_balance(r.mads);
}

TEST_CASE("a send report with any other status ends the operation with that error") {
    rig r;
    r.net.set_script([&](const packet& p) { return fate{{}, {report(p, 100us, EIO)}}; });
    operation o(7);
    o.retries = 5;
    r.mads.submit(o);
    REQUIRE(r.run());
    CHECK(o.ended_as(completion_status::send_failed));
    CHECK(o.error_code == EIO);
    CHECK(r.mads.counters().lost == 1);
    check_balance(r.mads);
}
