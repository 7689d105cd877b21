// SPDX-License-Identifier: MIT
// link_use_test.cpp - data rates, and the use of links by counters. All numbers were calculated by hand.
#include "support/catch.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/detail/link.hpp>

#include <utility>

namespace link_use_test {

using namespace comad;
using namespace comad::counters;
using namespace std::chrono_literals;
using discovery::port_ref;
using iba::pm::PortCountersExt;

namespace {

constexpr port_ref here{0, 1};
constexpr capabilities all{true, true, true, true, true, true, true};

/// A switch whose port 1 runs at 4X QDR: 32e9 bits of data per second, 8e9 on each lane.
struct lone_switch {
    lone_switch() {
        s.nodes.resize(1);
        s.nodes[0].info.nodeType = iba::NodeType::Switch;
        s.nodes[0].info.deviceID = 0xcf08; // Switch-IB 2
        s.nodes[0].ports.resize(2);
        for (discovery::port& p : s.nodes[0].ports) {
            iba::smp::PortInfo& info = p.info.emplace();
            info.portState = iba::PortState::Active;
            info.linkWidthActive = iba::LinkWidth::w4x;
            info.linkSpeedActive = iba::LinkSpeed::QDR;
            info.capabilityMask = 0x4000; // extended speeds
        }
    }
    iba::smp::PortInfo& link() { return *s.nodes[0].ports[1].info; }
    discovery::subnet s;
};

reading seen(mad::duration at, const PortCountersExt& values, std::optional<u8> tick = {}, port_ref where = here) {
    reading r{where, true, {mad::time_point(at), {}}, {}, tick};
    r.counters.counters.take(values, all);
    return r;
}

} // namespace

TEST_CASE("the data rate of a link excludes line encoding and error correction") {
    lone_switch w;
    const auto rate_of = [&](unsigned legacy, unsigned extended, unsigned extended2) {
        w.link().linkSpeedActive = static_cast<iba::LinkSpeed>(legacy);
        w.link().linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(extended);
        w.link().linkSpeedExtActive2 = static_cast<iba::LinkSpeedExt2>(extended2);
        return discovery::data_bits_per_second(w.s, here);
    };
    // Rates of 4X links in InfiniBand's roadmap, and 54.5 Gb/s of FDR: 4 * 14.0625 Gb/s * 64 / 66.
    CHECK(rate_of(1, 0, 0) == Approx(8e9));
    CHECK(rate_of(2, 0, 0) == Approx(16e9));
    CHECK(rate_of(4, 0, 0) == Approx(32e9));
    CHECK(rate_of(4, 1, 0) == Approx(54.545454545e9));
    CHECK(rate_of(4, 2, 0) == Approx(100e9));
    CHECK(rate_of(4, 4, 0) == Approx(200e9));
    CHECK(rate_of(4, 8, 0) == Approx(400e9));
    CHECK(rate_of(4, 8, 1) == Approx(800e9));
    w.link().linkWidthActive = iba::LinkWidth::w12x;
    CHECK(rate_of(1, 0, 0) == Approx(24e9));
    w.s.nodes[0].ports[1].fdr10 = true;
    CHECK(rate_of(4, 0, 0) == Approx(120e9)); // FDR10: 10 Gb/s on each lane
    CHECK(rate_of(0, 0, 0) == 0);
}

TEST_CASE("utilization is the share of the data rate in each direction, and congestion the share of the time") {
    lone_switch w;
    PortCountersExt then, now;
    then.portXmitData = 7;
    now.portXmitData = 7 + 1'000'000'000; // 4e9 bytes in 2 s, of 8e9
    now.portRcvData = 200'000'000;        // 8e8 bytes
    now.portXmitWait = 25'000'000;
    // Tick 31: the time of 32 bytes on a lane with 1e9 bytes per second, 32 ns. 0.8 s of 2 s.
    const reading first = seen(5s, then, u8{31}), second = seen(7s, now, u8{31});
    CHECK(tick_seconds(w.s, second) == Approx(32e-9));
    link_use use = use_of(w.s, first, second);
    REQUIRE((use.xmit && use.rcv && use.congestion));
    CHECK(use.xmit->value == Approx(0.5));
    CHECK(use.rcv->value == Approx(0.1));
    CHECK(use.congestion->value == Approx(0.4));
    CHECK_FALSE(use.xmit->is_lower_bound);
    // NVIDIA's formula for Switch-IB 2: lost bytes are the counter times (tick + 1) times the number of lanes.
    CHECK(use.congestion->value * 4e9 * 2 == Approx(25e6 * 32 * 4));
    // The tick of a Quantum is a number of bytes of the link. 8 bytes take 2 ns: 0.05 s of 2 s.
    for (const u16 quantum : {u16{0xd2f0}, u16{0xd2f2}, u16{0xd2f4}}) {
        w.s.nodes[0].info.deviceID = quantum;
        const reading of_quantum = seen(7s, now, u8{7});
        CHECK(tick_seconds(w.s, of_quantum) == Approx(2e-9));
        CHECK(use_of(w.s, first, of_quantum).congestion->value == Approx(0.025));
        CHECK(25e6 * 8 == Approx(0.025 * 4e9 * 2)); // lost bytes: the counter times (tick + 1)
    }
    // At 1X, the same data is four times the share of the link.
    w.link().linkWidthActive = iba::LinkWidth::w1x;
    CHECK(use_of(w.s, first, second).rcv->value == Approx(0.4));
    sweep before, after;
    before.ports = {first};
    after.ports = {second};
    CHECK(uses_of(w.s, before, after).at(0).rcv->value == Approx(0.4));
}

TEST_CASE("a share is unknown without a link, a tick or both readings, and a lower bound if a counter was cleared") {
    lone_switch w;
    PortCountersExt then, now;
    then.portXmitData = ~u64{0} / 2;
    now.portXmitData = 1'000'000'000;
    const reading first = seen(5s, then), second = seen(7s, now);
    const link_use cleared = use_of(w.s, first, second);
    CHECK(cleared.xmit->value == Approx(0.5));
    CHECK(cleared.xmit->is_lower_bound);
    CHECK_FALSE(cleared.congestion); // without a tick
    reading missing = first;
    missing.valid = false;
    CHECK(use_of(w.s, missing, second) == link_use{});
    CHECK_FALSE(use_of(w.s, first, first).xmit); // no time between them
    reading without = seen(5s, then, u8{31});
    without.counters.counters = {};
    const link_use partial = use_of(w.s, without, seen(7s, now, u8{31}));
    CHECK(partial == link_use{});
    w.link().portState = iba::PortState::Down;
    CHECK(use_of(w.s, first, second) == link_use{});
    CHECK_FALSE(tick_seconds(w.s, seen(7s, now, u8{31})));
    // Port 0 of a switch has no link, whatever its PortInfo contains.
    CHECK(use_of(w.s, seen(5s, then, {}, {0, 0}), seen(7s, now, {}, {0, 0})) == link_use{});
}

TEST_CASE("a share above 110 percent is impossible and thus unknown, and smaller excesses are measurement errors") {
    CHECK(if_possible({0}) == link_share{0});
    CHECK(if_possible({1.1, true}) == link_share{1.1, true});
    CHECK_FALSE(if_possible({1.101}));
    CHECK_FALSE(if_possible({1e9, true}));
    lone_switch w;
    const auto use_after = [&](u64 words_sent, u64 words_received, u64 ticks) {
        PortCountersExt now;
        now.portXmitData = words_sent;
        now.portRcvData = words_received;
        now.portXmitWait = ticks;
        return use_of(w.s, seen(5s, {}, u8{31}), seen(7s, now, u8{31}));
    };
    // The link carries 2e9 words in 2 s, and 62.5e6 ticks of 32 ns take 2 s.
    const link_use full = use_after(2'100'000'000, 2'000'000'000, 65'000'000);
    CHECK(full.xmit->value == Approx(1.05));
    CHECK(full.rcv->value == Approx(1));
    CHECK(full.congestion->value == Approx(1.04));
    const link_use jumped = use_after(2'300'000'000, 1'000'000'000, 70'000'000);
    CHECK_FALSE(jumped.xmit);
    CHECK(jumped.rcv->value == Approx(0.5));
    CHECK_FALSE(jumped.congestion);
    // A counter that was cleared contains more than the link can have carried since the earlier reading.
    PortCountersExt then, now;
    then.portXmitData = ~u64{0} / 2;
    now.portXmitData = 3'000'000'000;
    CHECK_FALSE(use_of(w.s, seen(5s, then), seen(7s, now)).xmit);
    // After the link became narrower, the earlier data exceed the present data rate.
    w.link().linkWidthActive = iba::LinkWidth::w1x;
    CHECK_FALSE(use_after(1'000'000'000, 0, 0).xmit);
}

} // namespace link_use_test
