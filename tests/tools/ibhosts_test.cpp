// SPDX-License-Identifier: MIT
// ibhosts_test.cpp - ibhosts, ibswitches, ibnodes and ibrouters on topology files and subnets.
#include "program/report_lines.hpp"

namespace ibhosts_test {

using namespace ibtool_rig;

namespace {

const words small_tree{"--fabric", "sim:fattree2,radix=4,time=virtual"}; // 8 hosts, 6 switches and 16 links

} // namespace

TEST_CASE("ibhosts, ibswitches and ibnodes print equal results for a topology file and the subnet") {
    const directory files;
    const std::string file = files / "tree.topo";
    REQUIRE(run(words{"ibnetdiscover", file} + small_tree).status == 0);
    struct {
        const char* command;
        std::size_t hosts, switches;
    } const expected[] = {{"ibhosts", 8, 0}, {"ibswitches", 0, 6}, {"ibnodes", 8, 6}};
    for (const auto& e : expected) {
        CAPTURE(e.command);
        const process_result discovered = run(small_tree + words{e.command});
        check_success(discovered);
        CHECK(lines_starting(discovered.out, "Ca\t: 0x") == e.hosts);
        CHECK(lines_starting(discovered.out, "Switch\t: 0x") == e.switches);
        CHECK(lines_of(discovered.out).size() == e.hosts + e.switches);
        const process_result read = run({e.command, file});
        check_success(read);
        CHECK(lines_of(read.out) == lines_of(discovered.out));
    }
}

TEST_CASE("ibrouters lists routers as infiniband-diags' ibrouters does, for a file and for the subnet") {
    const directory files;
    const std::string file = files.write("subnet.topo", R"(switchguid=0x5000
Switch	4 "S-0000000000005000"		# "the switch" base port 0 lid 1 lmc 0
[1]	"H-000000000000a000"[1](a001)
[2]	"R-000000000000b000"[1](b001)
[3]	"R-000000000000c000"[2](c002)

caguid=0xa000
Ca	1 "H-000000000000a000"		# "the host"
[1](a001)	"S-0000000000005000"[1]

rtguid=0xb000
Rt	1 "R-000000000000b000"		# "to the west"
[1](b001)	"S-0000000000005000"[2]

rtguid=0xc000
Rt	2 "R-000000000000c000"		# "to the east"
[2](c002)	"S-0000000000005000"[3]
)");
    const process_result peer = run_process({"ibrouters", file});
    REQUIRE(peer.status == 0);
    REQUIRE(lines_of(peer.out).size() == 2);
    const process_result read = run({"ibrouters", file});
    check_success(read);
    CHECK(lines_of(read.out) == lines_of(peer.out));
    const process_result discovered = run({"ibrouters", "--fabric", "sim:" + file});
    check_success(discovered);
    CHECK(lines_of(discovered.out) == lines_of(peer.out));
    const process_result json = run({"ibrouters", "--json", file});
    check_success(json);
    CHECK(lines_starting(json.out, "{\"nodeType\":\"Router\",") == 2);
}

} // namespace ibhosts_test
