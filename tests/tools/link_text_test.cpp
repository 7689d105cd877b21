// SPDX-License-Identifier: MIT
// link_text_test.cpp - text about links whose ends support different widths and speeds, including speeds that no
// simulator supports.
#include "support/catch.hpp"
#include "text/link_text.hpp"

namespace link_text_test {

using namespace comad;
using namespace ibtool;
using discovery::port_ref;
using discovery::subnet;
using iba::smp::PortInfo;

namespace {

constexpr u32 knows_extended_speeds = 0x4000; // IBA 14.2.5.6, capabilityMask bit 14
constexpr port_ref here{0, 1}, there{1, 2};

/// Returns an Active port that runs at 4x QDR.
PortInfo up() {
    PortInfo p;
    p.portState = iba::PortState::Active;
    p.portPhysicalState = iba::PortPhysicalState::LinkUp;
    p.capabilityMask = knows_extended_speeds;
    p.linkWidthSupported = 3; // 1x, 4x
    p.linkWidthActive = iba::LinkWidth::w4x;
    p.linkSpeedSupported = 7; // up to QDR
    p.linkSpeedActive = iba::LinkSpeed::QDR;
    return p;
}

/// A link between port 1 of a switch and port 2 of a CA.
struct cable {
    cable() {
        s.nodes.resize(2);
        s.nodes[0].info.nodeType = iba::NodeType::Switch;
        s.nodes[0].ports.resize(2);
        s.nodes[0].ports[0].info = PortInfo{};
        s.nodes[0].ports[0].info->capabilityMask = knows_extended_speeds;
        s.nodes[0].ports[0].info->LID = iba::lid{17};
        s.nodes[1].info.nodeType = iba::NodeType::CA;
        s.nodes[1].description = "host";
        s.nodes[1].ports.resize(3);
        s.nodes[0].ports[1].peer = there;
        s.nodes[1].ports[2].peer = here;
        s.nodes[1].ports[2].portGUID = iba::guid{0xc002};
        a() = b() = up();
        b().LID = iba::lid{5};
    }
    PortInfo& a() { return s.nodes[0].ports[1].info ? *s.nodes[0].ports[1].info : s.nodes[0].ports[1].info.emplace(); }
    PortInfo& b() { return s.nodes[1].ports[2].info ? *s.nodes[1].ports[2].info : s.nodes[1].ports[2].info.emplace(); }

    subnet s;
};

} // namespace

TEST_CASE("a link at the best width and speed of both ends prints no hint") {
    cable l;
    CHECK(format_link(l.s, here) == "( 4X          10.0 Gbps Active/  LinkUp)");
    CHECK(format_peer(l.s, {}, here) == "     5    2[  ] \"host\" ( )");
    CHECK(format_peer(l.s, {}, here, true) == "0x000000000000c002      5    2[  ] \"host\" ( )");
    CHECK(lid_at(l.s, here) == 17); // a switch has the LID of its port 0
    l.a().HOQLife = 16;
    l.a().VLStallCount = 7;
    CHECK(format_link(l.s, here, true) == "( 4X          10.0 Gbps Active/  LinkUp) (HOQ:16 VL_Stall:7)");
}

TEST_CASE("a narrow or slow link prints what both ends support") {
    cable l;
    const auto width = [&](unsigned a, unsigned b, iba::LinkWidth active) {
        l.a().linkWidthSupported = static_cast<u8>(a);
        l.b().linkWidthSupported = static_cast<u8>(b);
        l.a().linkWidthActive = active;
        return better_width(l.s, here);
    };
    using iba::LinkWidth;
    CHECK(width(3, 3, LinkWidth::w1x) == "4X");
    CHECK(width(11, 3, LinkWidth::w4x).empty());
    CHECK(width(11, 15, LinkWidth::w4x) == "12X");
    CHECK(width(7, 15, LinkWidth::w4x) == "8X");
    CHECK(width(17, 19, LinkWidth::w1x) == "2X"); // 2x has the highest bit but is not the widest
    CHECK(width(19, 19, LinkWidth::w4x).empty());
    CHECK(width(2, 1, LinkWidth::w4x).empty());

    l.a().linkSpeedActive = iba::LinkSpeed::SDR;
    CHECK(better_speed(l.s, here) == "10.0 Gbps");
    l.a().linkSpeedActive = iba::LinkSpeed::QDR;
    l.a().linkSpeedExtSupported = 7;
    l.b().linkSpeedExtSupported = 3;
    CHECK(better_speed(l.s, here) == "25.78125 Gbps");
    l.a().linkSpeedExtActive = iba::LinkSpeedExt::EDR;
    CHECK(better_speed(l.s, here).empty());
    CHECK(format_link(l.s, here) == "( 4X      25.78125 Gbps Active/  LinkUp)");
    CHECK(better_speed(l.s, there) == "25.78125 Gbps"); // the far end still reports QDR

    // A link has no extended speed if one end supports none or the ends have none in common.
    l.a().linkSpeedExtActive = iba::LinkSpeedExt::none;
    l.b().linkSpeedExtSupported = 8;
    CHECK(better_speed(l.s, here).empty());
    l.b().linkSpeedExtSupported = 7;
    l.b().capabilityMask = 0;
    CHECK(better_speed(l.s, here).empty());
    l.b().capabilityMask = knows_extended_speeds;
    l.s.nodes[0].ports[0].info->capabilityMask = 0; // the mask of a switch is in port 0
    CHECK(better_speed(l.s, here).empty());
}

TEST_CASE("FDR10 and XDR links print their speeds") {
    cable l;
    l.s.nodes[0].ports[1].fdr10_supported = l.s.nodes[1].ports[2].fdr10_supported = true;
    CHECK(better_speed(l.s, here) == "FDR10 (Found link at QDR but expected speed is FDR10)");
    CHECK(format_peer(l.s, {}, here) ==
          "     5    2[  ] \"host\" ( Could be FDR10 (Found link at QDR but expected speed is FDR10))");
    l.s.nodes[1].ports[2].fdr10_supported = false;
    CHECK(better_speed(l.s, here).empty());
    l.s.nodes[0].ports[1].fdr10 = l.s.nodes[1].ports[2].fdr10_supported = true;
    CHECK(better_speed(l.s, here).empty());
    CHECK(format_link(l.s, here) == "( 4X  10.0 Gbps (FDR10) Active/  LinkUp)");

    l.a().linkSpeedExtSupported = l.b().linkSpeedExtSupported = 15;
    l.a().linkSpeedExtActive = iba::LinkSpeedExt::NDR;
    l.a().linkSpeedExtSupported2 = l.b().linkSpeedExtSupported2 = 1;
    CHECK(better_speed(l.s, here) == "212.5 Gbps");
    l.a().linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR;
    CHECK(better_speed(l.s, here).empty());
    CHECK(speed_of(l.s, here) == "212.5 Gbps");
}

TEST_CASE("a link whose peer is unread, unknown or absent prints what is known") {
    cable l;
    l.s.nodes[1].ports[2].info.reset(); // the port did not reply
    CHECK(format_peer(l.s, {}, here) == "     0    2[  ] \"host\" ( )");
    l.s.nodes[0].ports[1].peer = {};
    CHECK(format_peer(l.s, {}, here) == "    \"Port not available\"");
    l.a().portState = iba::PortState::Down;
    l.a().portPhysicalState = iba::PortPhysicalState::Polling;
    CHECK(format_peer(l.s, {}, here) == "           [  ] \"\" ( )");
    CHECK(format_link(l.s, here, true) == "(                Down/ Polling)");
}

} // namespace link_text_test
