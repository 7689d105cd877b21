// SPDX-License-Identifier: MIT
// lane_files_test.cpp - files with path SLs and SL to VL tables, in the formats of ibdmchk's usage text and of OpenSM's
// dump, and their errors.
#include "input/lane_files.hpp"
#include "support/catch.hpp"
#include "support/made_file.hpp"

using namespace comad;
using Catch::Contains;
using discovery::virtual_lanes;

namespace {

/// Returns a subnet of a switch with three ports and a CA with two ports.
discovery::subnet two_nodes() {
    discovery::subnet s;
    for (const u32 n : {0u, 1u}) {
        discovery::node& made = s.nodes.emplace_back();
        made.info.nodeType = n == 0 ? iba::NodeType::Switch : iba::NodeType::CA;
        made.info.numPorts = n == 0 ? 3 : 2;
        made.info.nodeGUID = iba::guid{n == 0 ? 0x5000u : 0xa000u};
        made.info.portGUID = iba::guid{value(made.info.nodeGUID) + n};
        made.ports.resize(made.info.numPorts + 1u);
        s.by_guid.emplace(made.info.nodeGUID, n);
    }
    return s;
}

/// Returns the path SLs that a text contains for two_nodes().
virtual_lanes sls_of(std::string_view text) {
    virtual_lanes lanes;
    ibtool::read_path_sls(made_file(text).name, two_nodes(), lanes);
    return lanes;
}

/// Returns the SL to VL tables that a text contains for two_nodes().
virtual_lanes VLs_of(std::string_view text) {
    virtual_lanes lanes;
    ibtool::read_sl_to_vl(made_file(text).name, two_nodes(), lanes);
    return lanes;
}

} // namespace

TEST_CASE("a line of a path SL file applies to all ports of its node") {
    const virtual_lanes lanes = sls_of("# source, DLID, SL\n0xa000 7 3\n\n0xa000 0x8 15 # the last one\n0xbeef 7 1\n");
    CHECK(lanes.SL({1, 1}, 7) == 3);
    CHECK(lanes.SL({1, 2}, 7) == 3);
    CHECK(lanes.SL({1, 1}, 8) == 15);
    CHECK(lanes.SL({1, 1}, 9) == 0);
    CHECK(lanes.SL({0, 1}, 7) == 0);
    CHECK_FALSE(lanes.is_single());
    CHECK(sls_of("0xbeef 7 1\n").is_single());
    for (const char* wrong : {"0xa000 7", "0xa000 7 16", "0xa000 49152 1", "a000 seven 1", "0xa000 7 3 4"})
        CHECK_THROWS_WITH(sls_of("0xa000 7 3\n" + std::string(wrong) + '\n'),
                          Contains(":2: expected a node GUID, a DLID and an SL"));
}

TEST_CASE("an SL to VL file has the lower SL in the upper half of each byte") {
    const virtual_lanes lanes = VLs_of("0x5000 1 2 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xef\n"
                                       "0xa000 0 1 0x11 0x11 0x11 0x11 0x11 0x11 0x11 0x11\n");
    for (u8 SL = 0; SL < 16; ++SL) CHECK(lanes.VL(0, 1, 2, SL) == SL);
    const virtual_lanes turned = VLs_of("0x5000 1 2 0x10 0x32 0x54 0x76 0x98 0xba 0xdc 0xfe\n");
    for (u8 SL = 0; SL < 16; ++SL) CHECK(turned.VL(0, 1, 2, SL) == (SL ^ 1));
    CHECK(turned.VL(0, 2, 1, 4) == 4);
    for (const char* wrong :
         {"0x5000 1 2 0x01", "0x5000 1 2 0x101 0 0 0 0 0 0 0", "0x5000 255 2 0 0 0 0 0 0 0 0", "1 2 : 0 1 2"})
        CHECK_THROWS_WITH(VLs_of(wrong), Contains(":1: expected a switch GUID"));
}

TEST_CASE("an SL to VL file may be a dump of OpenSM") {
    const virtual_lanes lanes = VLs_of("Channel Adapter 0x000000000000a001, base LID 4, \"host based, \"\n"
                                       "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
                                       "#--------------------------------------------------------\n"
                                       "0   0   : 9  9  9  9  9  9  9  9  9  9  9  9  9  9  9  9 \n"
                                       "#--------------------------------------------------------\n\n"
                                       "Switch 0x0000000000005000, base LID 1, \"#1 switch\"\n"
                                       "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
                                       "1   2   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 7 \n"
                                       "3   2   : 1  0  3  2  5  4  7  6  9  8  11 10 13 12 15 14\n");
    CHECK(lanes.VL(0, 1, 2, 14) == 14);
    CHECK(lanes.VL(0, 1, 2, 15) == 7);
    CHECK(lanes.VL(0, 3, 2, 14) == 15);
    CHECK(lanes.VL(0, 0, 0, 1) == 1);
    const std::string heading = "Switch 0x0000000000005000, base LID 1, \"S\"\n";
    for (const char* wrong :
         {"1 2 : 0 1 2 3", "1 2 : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 16", "Switch 0x50x, base LID 1"})
        CHECK_THROWS_WITH(VLs_of(heading + wrong), Contains(":2: expected a switch GUID"));
}
