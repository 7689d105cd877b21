// SPDX-License-Identifier: MIT
// port_view_test.cpp - text about links whose ends support more than they use, including widths and speeds that no
// simulator supports.
#include "session/port_view.hpp"
#include "support/catch.hpp"

namespace port_view_test {

using namespace comad;
using namespace ibtool;
using lines = std::vector<std::string>;

namespace {

constexpr u32 knows_extended_speeds = 0x4000; // IBA 14.2.5.6, capabilityMask bit 14

/// Returns a CA port that runs at 4x and 25.78125 Gb/s and supports no more.
port_view EDR() {
    port_view v;
    v.node.nodeType = iba::NodeType::CA;
    v.info.capabilityMask = knows_extended_speeds;
    v.info.linkWidthSupported = 0b11111;
    v.info.linkWidthEnabled = 0b00011; // 1x, 4x
    v.info.linkWidthActive = iba::LinkWidth::w4x;
    v.info.linkSpeedSupported = v.info.linkSpeedEnabled = 7;
    v.info.linkSpeedActive = iba::LinkSpeed::QDR;
    v.info.linkSpeedExtSupported = 0b1111;
    v.info.linkSpeedExtEnabled = 0b0011; // FDR, EDR
    v.info.linkSpeedExtActive = iba::LinkSpeedExt::EDR;
    v.end = v.info;
    return v;
}

} // namespace

TEST_CASE("a link at the best width and speed of both ends is reported as good") {
    CHECK(link_complaints(EDR(), EDR()).empty());
    port_view more = EDR(); // only one end supports more
    more.info.linkWidthEnabled = 255;
    more.info.linkSpeedExtEnabled = 31;
    CHECK(link_complaints(EDR(), more).empty());
    CHECK(link_complaints(more, EDR()).empty());
}

TEST_CASE("a link below the best common width or speed is reported with one line per deviation") {
    port_view here = EDR(), there = EDR();
    here.info.linkWidthEnabled = there.info.linkWidthEnabled = 255; // all supported widths; 12x is the widest
    CHECK(link_complaints(here, there) == lines{"the link runs at 4X, but both ends have 12X enabled"});
    here.info.linkWidthEnabled = 0b10001; // 2x is wider than 1x, whose bit is lower
    here.info.linkWidthActive = iba::LinkWidth::w1x;
    CHECK(link_complaints(here, there) == lines{"the link runs at 1X, but both ends have 2X enabled",
                                                "the link runs at 1X, but the other end reports 4X"});

    here = there = EDR();
    here.info.linkSpeedExtEnabled = there.info.linkSpeedExtEnabled = 31; // all supported speeds; NDR is the fastest
    CHECK(link_complaints(here, there) ==
          lines{"the link runs at 25.78125 Gbps, but both ends have 106.25 Gbps enabled"});
    here.info.linkSpeedExtEnabled2 = there.info.linkSpeedExtEnabled2 = 1;
    CHECK(link_complaints(here, there) ==
          lines{"the link runs at 25.78125 Gbps, but both ends have 212.5 Gbps enabled"});

    here = there = EDR();
    here.info.linkSpeedExtActive = {};
    here.info.linkSpeedActive = iba::LinkSpeed::SDR;
    there.info.linkSpeedExtEnabled = 30; // extended speeds are disabled
    CHECK(link_complaints(here, there) == lines{"the link runs at 2.5 Gbps, but both ends have 10.0 Gbps enabled",
                                                "the link runs at 2.5 Gbps, but the other end reports 25.78125 Gbps"});
    there.end.capabilityMask = 0; // without this bit, the extended speeds are not valid
    there.info.linkSpeedExtEnabled = 3;
    CHECK(link_complaints(here, there) == lines{"the link runs at 2.5 Gbps, but both ends have 10.0 Gbps enabled",
                                                "the link runs at 2.5 Gbps, but the other end reports 10.0 Gbps"});
}

TEST_CASE("a QDR link whose ends support FDR10 is reported") {
    port_view here = EDR(), there = EDR();
    for (port_view* v : {&here, &there}) {
        v->end.capabilityMask = 0;
        v->mellanox.emplace().LinkSpeedEnabled = 1;
    }
    CHECK(link_complaints(here, there) == lines{"the link runs at 10.0 Gbps, but both ends have FDR10 enabled"});
    here.mellanox->LinkSpeedActive = 1;
    CHECK(link_complaints(here, there).empty());
    here.mellanox->LinkSpeedActive = 0;
    there.mellanox->LinkSpeedEnabled = 0;
    CHECK(link_complaints(here, there).empty());
}

} // namespace port_view_test
