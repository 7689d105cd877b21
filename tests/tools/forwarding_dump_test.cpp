// SPDX-License-Identifier: MIT
// forwarding_dump_test.cpp - forwarding tables in the formats of dump_lfts and OpenSM, and their errors.
#include "input/forwarding_dump.hpp"
#include "support/catch.hpp"
#include "support/made_file.hpp"

using namespace comad;
using Catch::Contains;
using discovery::not_forwarded;

namespace {

/// Returns a subnet with two switches and a CA.
discovery::subnet three_nodes() {
    discovery::subnet s;
    for (const u64 GUID : {0x5000u, 0x6000u, 0xa000u}) {
        discovery::node& made = s.nodes.emplace_back();
        made.info.nodeType = GUID == 0xa000 ? iba::NodeType::CA : iba::NodeType::Switch;
        made.info.nodeGUID = iba::guid{GUID};
        s.by_guid.emplace(made.info.nodeGUID, static_cast<u32>(s.nodes.size() - 1));
    }
    return s;
}

/// Returns the forwarding tables that a text contains for three_nodes().
discovery::forwarding_tables tables_of(std::string_view text) {
    return ibtool::read_forwarding_dump(made_file(text).name, three_nodes());
}

} // namespace

TEST_CASE("forwarding tables in the format of dump_lfts are read") {
    const auto tables =
        tables_of(R"(Unicast lids [0x0-0x24] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000005000 (first):
  Lid  Out   Destination
       Port     Info 
0x0001 003 : (Channel Adapter portguid 0x000000000000a001: 'host of switch 7')
0x0002 000 : (Switch portguid 0x0000000000005000: 'first')
0x0009 255 : (illegal port)
3 lids dumped 
Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0000000000005000 (first):
            0                   1
     Ports: 0 1 2 3 4 5 6 7 8 9 0
 MLid
0xc000      x x
1 valid mlids dumped 
Unicast lids [0x0-0x2] of switch Lid 7 guid 0x0000000000006000 (second):
0x0001 036 
0x0041 254 : (path #2 out of 4: portguid 0x000000000000a001)
Unicast lids [0x0-0x2] of switch Lid 8 guid 0x0000000000007777 (of another subnet):
0x0001 099 : (Switch portguid 0x0000000000005000: 'first')
)");
    CHECK(tables.complete());
    const auto& first = tables.of_node[0];
    CHECK((first.is_known && first.last_lid == 0x24 && first.unicast.size() == 64));
    CHECK((first.out_port(1) == 3 && first.out_port(2) == 0 && first.out_port(9) == not_forwarded));
    CHECK((first.out_port(0) == not_forwarded && first.out_port(0x24) == not_forwarded));
    const auto& second = tables.of_node[1];
    CHECK((second.out_port(1) == 36 && second.out_port(2) == not_forwarded));
    CHECK((second.out_port(0x41) == 254 && second.last_lid == 0x41));
    CHECK_FALSE(tables.of_node[2].is_known); // node 2 is the CA
}

TEST_CASE("forwarding tables in the format of OpenSM's dump are read") {
    const auto tables = tables_of(R"(Unicast lids [0-14] of switch Lid 2 guid 0x0000000000006000 ('leaf-0001'):
0x0001 001 # Channel Adapter portguid 0x0002c90300000101: 'h-0001 HCA-1'
0x0002 000 # Switch portguid 0x0002c90300000900: 'leaf-0001'
0x0003 : UNREACHABLE
15 lids dumped
)");
    const auto& second = tables.of_node[1];
    CHECK((second.out_port(1) == 1 && second.out_port(2) == 0 && second.out_port(3) == not_forwarded));
    CHECK(second.last_lid == 14);
    REQUIRE(tables.failures.size() == 1); // the failure at the first switch
    CHECK(three_nodes().find(tables.failures[0].where).node == 0);
    CHECK(tables.failures[0].text == "its forwarding table is not in the file");
}

TEST_CASE("errors in dumped forwarding tables are reported with the line number") {
    const std::string heading = "Unicast lids [0x0-0x9] of switch Lid 1 guid 0x5000 (x):\n";
    CHECK_THROWS_WITH(tables_of(heading + "0x0001 003\n0xC000 003\n"), Contains(":3: expected a LID and a port"));
    CHECK_THROWS_WITH(tables_of(heading + "0x0001 256\n"), Contains(":2: expected"));
    CHECK_THROWS_WITH(tables_of(heading + "0x0001\n"), Contains(":2: expected"));
    CHECK_THROWS_WITH(tables_of(heading + "0x0001 3x\n"), Contains(":2: expected"));
    CHECK_NOTHROW(tables_of(heading + "0xbfff 255\n"));
    for (const char* wrong :
         {"Unicast lids [0x0-0xffff] of switch Lid 1 guid 0x5000 (x):", "Unicast lids [ of switch Lid 1 guid 0x5000",
          "Unicast lids [0x0-0x9] of switch Lid 1", "Unicast lids [0x0-0x9] of switch Lid 1 guid abc (x):"}) {
        CAPTURE(wrong);
        CHECK_THROWS_WITH(tables_of(wrong), Contains(":1: invalid table heading; expected "));
    }
    for (const char* none :
         {"", "0x0001 003\n", "Unicast lids [0x0-0x9] of switch Lid 1 guid 0x7777 (x):\n0x0001 003\n",
          "Unicast lids [0x0-0x9] of switch Lid 1 guid 0xa000 (a CA):\n"}) {
        CAPTURE(none);
        CHECK_THROWS_WITH(tables_of(none),
                          Contains("no forwarding table in ") && Contains(" belongs to a switch of this subnet"));
    }
    const std::string name(1023 - heading.size() + 1, 'x');
    CHECK_NOTHROW(tables_of(heading.substr(0, heading.size() - 1) + name + "\n0x0001 003\n"));
    CHECK_THROWS_WITH(tables_of("0x\n" + heading.substr(0, heading.size() - 1) + name + "x\n"),
                      Contains(":2: the line is longer than 1023 bytes"));
    CHECK_THROWS_WITH(ibtool::read_forwarding_dump("/no/such", three_nodes()),
                      Contains("cannot read '/no/such': No such file"));
    CHECK_THROWS_WITH(ibtool::read_forwarding_dump("/tmp", three_nodes()),
                      Contains("cannot read '/tmp': Is a directory"));
}
