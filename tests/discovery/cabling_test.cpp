// SPDX-License-Identifier: MIT
// cabling_test.cpp - cabling plans compared with a subnet of known cables: each way in which the two can differ.
#include "library/discovery_rig.hpp"
#include <comad/discovery/compare/detail/cabling.hpp>
#include <comad/iba/detail/format.hpp>

#include <sstream>

namespace cabling_test {

using namespace comad::test;
using namespace comad;
using discovery::cabling;
using discovery::cabling_fault;
using discovery::compare_cabling;
using discovery::planned_cable;
using kind = cabling_fault::kind;

namespace {

// leaf[1..3] lead to hosts a, b and c; leaf[7] leads to spine[1]. Host c uses its second port. Two hosts have the same
// name.
constexpr std::string_view described = R"(
switchguid=0x5000
Switch	8 "S1"	# "leaf"
[1]	"A"[1]
[2]	"B"[1]
[3]	"C"[2]
[7]	"S2"[1]

switchguid=0x6000
Switch	4 "S2"	# "spine, tall"
[1]	"S1"[7]
[3]	"D"[1]
[4]	"E"[1]

caguid=0xa000
Ca	1 "A"	# "a"
[1]	"S1"[1]

caguid=0xb000
Ca	1 "B"	# "b"
[1]	"S1"[2]

caguid=0xc000
Ca	2 "C"	# "c"
[2]	"S1"[3]

caguid=0xd000
Ca	1 "D"	# "twin"
[1]	"S2"[3]

caguid=0xe000
Ca	1 "E"	# "twin"
[1]	"S2"[4]
)";

const subnet& known() {
    static const subnet s = [] {
        std::istringstream in{std::string(described)};
        world w(transports::sim::read_topology(in, "described"));
        return w.discover();
    }();
    return s;
}

std::vector<planned_cable> whole() {
    return {{{"leaf", 1}, {"a", 1}, 1},        {{"b", 1}, {"leaf", 2}, 2},
            {{"leaf", 3}, {"c", 2}, 3},        {{"spine, tall", 1}, {"leaf", 7}, 4},
            {{"0x6000", 3}, {"0xd001", 1}, 5}, {{"spine, tall", 4}, {"0000:0000:0000:e000", 1}, 6}};
}

cabling compared(const std::vector<planned_cable>& plan, const std::string& map = {}) {
    std::istringstream in(map);
    std::vector<std::string> warnings;
    return compare_cabling(plan, known(), discovery::node_names::read(in, "map", warnings));
}

/// Returns the lines of the plan that the fault refers to.
std::vector<unsigned> lines_of(const cabling_fault& f, const std::vector<planned_cable>& plan) {
    std::vector<unsigned> all;
    for (const u32 c : f.cables) all.push_back(plan[c].line);
    return all;
}

} // namespace

TEST_CASE("a subnet that matches its plan has no faults") {
    const cabling is = compared(whole());
    CHECK(is.faults.empty());
    CHECK(is.as_planned == 6);
    CHECK(is.links == 6);
}

TEST_CASE("a cable that is not in the plan is extra") {
    auto plan = whole();
    plan.erase(plan.begin() + 1);
    const cabling is = compared(plan);
    REQUIRE(is.faults.size() == 1);
    const cabling_fault& f = is.faults[0];
    CHECK(f.what == kind::extra);
    CHECK(f.cables.empty());
    REQUIRE(f.links.size() == 1);
    const discovery::port_ref end = known().nodes[f.links[0].from.node].is_switch() ? f.links[0].to : f.links[0].from;
    CHECK(known().nodes[end.node].description == "b");
    CHECK(is.as_planned == 5);
}

TEST_CASE("a planned cable without a link is missing, and the fault describes both planned ends") {
    auto plan = whole();
    plan.push_back({{"leaf", 5}, {"spine, tall", 2}, 10});
    plan.push_back({{"leaf", 6}, {"host that is off", 1}, 11});
    plan.push_back({{"leaf", 9}, {"twin", 1}, 12});
    const cabling is = compared(plan);
    REQUIRE(is.faults.size() == 3);
    for (const cabling_fault& f : is.faults) CHECK(f.what == kind::missing);
    CHECK(lines_of(is.faults[0], plan) == std::vector{10u});
    CHECK(is.faults[0].why.empty());
    CHECK(is.faults[1].why == "unknown node 'host that is off'");
    CHECK(is.faults[2].why == "'leaf' has no port 9; 2 nodes are named 'twin'; use a GUID");
    CHECK(is.as_planned == 6);
}

TEST_CASE("two cables with exchanged ends are swapped, whichever ends were exchanged") {
    auto plan = whole();
    std::swap(plan[0].b, plan[1].a); // a and b at the leaf are exchanged
    const cabling hosts = compared(plan);
    REQUIRE(hosts.faults.size() == 1);
    CHECK(hosts.faults[0].what == kind::swapped);
    CHECK(lines_of(hosts.faults[0], plan) == std::vector{1u, 2u});
    CHECK(hosts.faults[0].links.size() == 2);
    CHECK(hosts.as_planned == 4);

    plan = whole();
    std::swap(plan[2].a, plan[3].b); // ports 3 and 7 of the leaf
    const cabling ports = compared(plan);
    REQUIRE(ports.faults.size() == 1);
    CHECK(ports.faults[0].what == kind::swapped);
    CHECK(lines_of(ports.faults[0], plan) == std::vector{3u, 4u});

    // In a cycle of three exchanged cables, each is missing. The fault shows where its ends lead to.
    plan = whole();
    std::swap(plan[0].b, plan[1].a);
    std::swap(plan[1].a, plan[2].b);
    const cabling circle = compared(plan);
    CHECK(circle.faults.size() == 6);
    CHECK(circle.faults[0].what == kind::missing);
    CHECK(circle.faults[0].why == "leaf[1] is connected to a[1]; b[1] is connected to leaf[2]");
}

TEST_CASE("a cable in another port of its planned node is moved") {
    auto plan = whole();
    plan[0].a.port = 4; // the real cable is in port 1
    const cabling is = compared(plan);
    REQUIRE(is.faults.size() == 1);
    CHECK(is.faults[0].what == kind::moved);
    CHECK(lines_of(is.faults[0], plan) == std::vector{1u});
    CHECK(is.faults[0].links.size() == 1);

    // If the planned port is occupied by another cable, that cable must move first.
    plan = whole();
    plan.erase(plan.begin() + 1); // b is at port 2, which the plan does not contain
    plan[0].a.port = 2;
    const cabling taken = compared(plan);
    CHECK(taken.faults.size() == 3);
    CHECK(taken.faults[0].what == kind::missing);
}

TEST_CASE("names of a node name map identify nodes like descriptions") {
    auto plan = whole();
    plan[0].b.node = "Alice";
    CHECK(compared(plan).faults.size() == 2);
    CHECK(compared(plan, "0xa000 \"Alice\"\n").faults.empty());
    CHECK(compared(whole(), "0xa000 \"Alice\"\n").faults.empty());
    // A name is not accepted if it is the description of another node.
    const cabling two = compared(whole(), "0xa000 \"b\"\n");
    REQUIRE(two.faults.size() == 2);
    CHECK_THAT(two.faults[0].why, Catch::Contains("2 nodes are named 'b'"));
}

TEST_CASE("plan names match switches and hosts without regard to case") {
    // A chassis with two line boards and a spine, a leaf switch, and hosts. It follows a published ibnetdiscover output
    // of such a fabric.
    std::istringstream in(R"(
vendid=0x2c9
switchguid=0x1000
Switch	40 "S1"	# "MF0;core1:MCS8500/L02/U1"
[20]	"SL"[21]
[1]	"S3"[1]

switchguid=0x1100
Switch	40 "S2"	# "MF0;core1:MCS8500/L16/U2"
[20]	"SL"[22]
[2]	"S3"[2]

switchguid=0x1200
Switch	40 "S3"	# "MF0;core1:MCS8500/S01/U1"
[1]	"S1"[1]
[2]	"S2"[2]

switchguid=0x2000
Switch	40 "SL"	# "MF0;sat11-leaf:MQM8700/U1"
[21]	"S1"[20]
[22]	"S2"[20]
[1]	"H1"[1]
[2]	"H2"[1]
[3]	"H3"[2]

caguid=0xa000
Ca	1 "H1"	# "node17 ibp11s0f0"
[1]	"SL"[1]

caguid=0xb000
Ca	1 "H2"	# "node17 ibp21s0f0"
[1]	"SL"[2]

caguid=0xc000
Ca	2 "H3"	# "node18 mlx5_0"
[2]	"SL"[3]
)");
    world w(transports::sim::read_topology(in, "described"));
    const subnet s = w.discover();
    const auto fault = [&](const discovery::planned_end& a, const discovery::planned_end& b) {
        const std::vector<planned_cable> plan{{a, b, 1}};
        const cabling is = compare_cabling(plan, s, {});
        CHECK(is.planned == 1);
        return is.as_planned == 1 ? std::string() : is.faults.at(0).why;
    };
    using end = discovery::planned_end;
    const end blade{"CORE1", 20, 16, 2, "Blade 16_Port 2/20"};
    CHECK(fault({"SAT11-LEAF", 22}, blade).empty());
    CHECK(fault({"sat11-leaf", 21}, {"core1", 20, 2, 1, "Blade 2_Port 1/20"}).empty());
    CHECK(fault({"MF0;sat11-leaf:MQM8700/U1", 22}, {"core1-L16-U2", 20}).empty());
    CHECK(fault({"SAT11-LEAF-U1", 22}, {"Core1/l16/u2", 20}).empty());
    CHECK(fault({"0x2000", 22}, {"mf0;core1:mcs8500/l16/u2", 20, 16, 2, "Blade 16_Port 2/20"}).empty());
    CHECK(fault({"NODE17", 0, 0, 0, "NODE17 IBP11S0F0"}, {"SAT11-LEAF", 1}).empty());
    CHECK(fault({"node17", 0, 0, 0, "ibp21s0f0"}, {"SAT11-LEAF", 2}).empty());
    CHECK(fault({"node18", 2}, {"sat11-leaf", 3}).empty());

    const end leaf{"sat11-leaf", 9};
    CHECK(fault({"core1", 20, 3, 1, "Blade 3_Port 1/20"}, leaf) == "'core1' has no blade 3 with a chip 1");
    CHECK(fault({"core2", 20, 3, 1, "Blade 3_Port 1/20"}, leaf) == "unknown node 'core2'");
    CHECK(fault({"core1", 20}, leaf) == "3 nodes are named 'core1'; use the full description or a GUID");
    CHECK(fault({"node17", 1}, leaf) == "2 nodes are named 'node17'; use the full description or a GUID");
    CHECK(fault({"node17", 0, 0, 0, "mlx5_9"}, leaf) == "'node17' has no port or adapter 'mlx5_9'");
    CHECK(fault({"node18", 0, 0, 0, "node17 ibp11s0f0"}, leaf) == "'node18' has no port or adapter 'node17 ibp11s0f0'");
    CHECK(fault({"node18", 0, 0, 0, "mlx5_0"}, leaf) == "adapter 'mlx5_0' has 2 ports; use a port number");
    CHECK(fault({"sat11-leaf", 0, 0, 0, "uplink"}, {"node18", 1}) == "'sat11-leaf' has no port or adapter 'uplink'");
    CHECK(fault({"core1", 41, 16, 2, "Blade 16_Port 2/41"}, leaf) == "'core1' has no port 41");
}

TEST_CASE("a cable that the plan lists from both ends is one cable") {
    auto plan = whole();
    plan.push_back({{"a", 1}, {"LEAF", 1}, 7});
    plan.push_back({{"leaf", 1}, {"0xa000", 1}, 8});
    plan.push_back({{"gone", 1}, {"leaf", 5}, 9});
    plan.push_back({{"Leaf", 5}, {"gone", 1}, 10});
    const cabling is = compared(plan);
    CHECK(is.planned == 7);
    CHECK(is.as_planned == 6);
    REQUIRE(is.faults.size() == 1);
    CHECK(lines_of(is.faults[0], plan) == std::vector{9u});
}

TEST_CASE("a plan with two cables in one port is rejected, whichever node names the plan uses") {
    auto plan = whole();
    plan.push_back({{"0x5000", 7}, {"spine, tall", 2}, 9});
    CHECK_THROWS_WITH(compared(plan),
                      "line 9 of the plan: port 7 of '0x5000' already has a cable in line 4; a port can have only one");
}

} // namespace cabling_test
