// SPDX-License-Identifier: MIT
// hidden_speeds_test.cpp - ports that tell extended speeds only to who says that it understands them.
#include "discovery_rig.hpp"
#include <comad/discovery/link.hpp>

namespace hidden_speeds_test { // compiled together with others

using namespace comad::test;
using namespace comad;
using discovery::hides_extended_speeds;
using discovery::understands_extended_speeds;
using iba::smp::PortInfo;

TEST_CASE("a port hides extended speeds where its end port has them and it tells nothing of any") {
    PortInfo end_port, port;
    CHECK_FALSE(hides_extended_speeds(end_port, port));
    end_port.capabilityMask = 0x4000; // IsExtendedSpeedsSupported, bit 14 (IBA 14.2.5.6)
    CHECK(hides_extended_speeds(end_port, port));
    port.linkSpeedSupported = 7; // of the older ones it may tell what it likes
    port.linkSpeedActive = iba::LinkSpeed::QDR;
    CHECK(hides_extended_speeds(end_port, port));
    const auto tells = [&](auto set) {
        PortInfo told = port;
        set(told);
        return !hides_extended_speeds(end_port, told);
    };
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtSupported = 1; })); // also one that is down
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtEnabled = 30; }));
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtActive = iba::LinkSpeedExt::FDR; }));
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtSupported2 = 1; }));
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtEnabled2 = 1; }));
    CHECK(tells([](PortInfo& p) { p.linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR; }));
    end_port.capabilityMask = ~0x4000u;
    CHECK_FALSE(hides_extended_speeds(end_port, port));
}

TEST_CASE("a simulated device that hides them tells them to who asks with bit 31") {
    topology t = managed("fattree2,radix=4");
    for (auto& n : t.nodes) n.hides_extended_speeds = n.is_switch();
    world w(std::move(t));
    const subnet s = w.discover();
    REQUIRE(s.complete());
    const auto ask = [&](u32 node, u32 modifier) {
        return coro::sync_wait(w.schedule, w.schedule.SubnGet<PortInfo>(s.nodes[node].route, modifier)).value();
    };
    REQUIRE_FALSE(s.nodes[0].is_switch());
    REQUIRE(s.nodes[1].is_switch());
    const PortInfo end_port = ask(1, 0), hidden = ask(1, 1), told = ask(1, 1 | understands_extended_speeds);
    CHECK(hides_extended_speeds(end_port, hidden));
    CHECK(hidden.linkSpeedActive == iba::LinkSpeed::QDR);
    CHECK_FALSE(hides_extended_speeds(end_port, told));
    CHECK(told.linkSpeedExtActive == iba::LinkSpeedExt::EDR); // what the generator gives
    CHECK(told.LID == hidden.LID);
    // A CA in the same fabric hides nothing.
    CHECK(ask(0, 1).linkSpeedExtActive == iba::LinkSpeedExt::EDR);
    CHECK(ask(0, 1 | understands_extended_speeds).linkSpeedExtActive == iba::LinkSpeedExt::EDR);
}

} // namespace hidden_speeds_test
