// SPDX-License-Identifier: MIT
// chassis_test.cpp - chassis and boards in fabrics that are cabled like real products, and in some that are not.
// tools/ibtool_chassis_test.cpp compares the former with infiniband-diags.
#include "library/discovery_rig.hpp"
#include "subnet/chassis_fabric.hpp"
#include <comad/discovery/chassis/detail/chassis.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace chassis_test {

using namespace comad::test;
using namespace comad;
using discovery::board_kind;
using discovery::chassis_place;
using discovery::format_slot;
using discovery::group_nodes;
using discovery::system_groups;

namespace {

constexpr unsigned voltaire = 0x8f1;

/// A subnet after its discovery, with its chassis.
struct grouped_fabric {
    explicit grouped_fabric(const std::string& described) {
        std::istringstream in(described);
        world w(transports::sim::read_topology(in, "made"));
        s = w.discover();
        groups = group_nodes(s);
    }
    u32 index(std::string_view name) const {
        const auto found = std::ranges::find(s.nodes, name, &discovery::node::description);
        INFO(name);
        REQUIRE(found != s.nodes.end());
        return static_cast<u32>(found - s.nodes.begin());
    }
    const chassis_place& place(std::string_view name) const { return groups.places[index(name)]; }
    std::string slot(std::string_view name) const { return format_slot(place(name)); }
    /// Returns the descriptions of the nodes with this name.
    std::set<std::string> with(std::string_view name) const {
        std::set<std::string> all;
        const u32 where = place(name).chassis;
        if (where == chassis_place::nowhere) return all;
        const discovery::chassis& c = groups.chassis[where];
        for (const auto* part : {&c.spines, &c.lines, &c.others})
            for (const u32 i : *part) all.insert(s.nodes[i].description);
        return all;
    }

    subnet s;
    system_groups groups;
};

} // namespace

TEST_CASE("boards of a Voltaire chassis get their positions from their cables") {
    const grouped_fabric f(chassis_fabric());
    CHECK(f.slot("ISR9288-spine-2.3") == "Spine 2 Chip 3");
    CHECK(f.slot("ISR9288-line-3.2") == "Line 3 Chip 2");
    CHECK(f.place("ISR9288-line-3.2").type == "ISR9288");
    CHECK(f.slot("ISR4200-spine-2.1") == "Spine 2 Chip 1");
    CHECK(f.slot("ISR4700x2-spine-1.2") == "Spine 1 Chip 2");
    CHECK(f.place("ISR4700x2-line-3.1").type == "ISR4700");
    CHECK(f.with("ISR9288-line-1.1").size() == 6 + 4);
    CHECK_FALSE(f.with("ISR9288-line-1.1").contains("second-ISR9288-line-1.1"));
    CHECK_FALSE(f.place("ISR9024").is_in_chassis());
    CHECK(f.place("at-wide-socket").board == board_kind::none); // connected to an external port of a spine
    CHECK(format_slot(f.place("core")).empty());

    const discovery::chassis& c = f.groups.chassis[f.place("ISR9288-line-1.1").chassis];
    REQUIRE(c.spines.size() == 6);
    CHECK(c.spines.front() == f.index("ISR9288-spine-1.1"));
    CHECK(value(c.GUID) == value(f.s.nodes[c.spines.front()].info.nodeGUID) - 1);

    // As printed on an sLB-24: ports 19 and 22 of the first chip are sockets 1 and 13, those of the second are 7 and
    // 19.
    const auto outside = [&](std::string_view name, u8 port) { return f.groups.external_port({f.index(name), port}); };
    CHECK(outside("ISR9288-line-1.1", 19) == 1);
    CHECK(outside("ISR9288-line-1.1", 22) == 13);
    CHECK(outside("ISR9288-line-1.2", 19) == 7);
    CHECK(outside("ISR9288-line-1.2", 22) == 19);
    CHECK(outside("ISR9288-line-1.2", 1) == 0);
    CHECK(outside("ISR9288-spine-1.1", 19) == 0);
    CHECK(outside("core", 2) == 0);
    CHECK(f.groups.external_port({}) == 0);
}

TEST_CASE("nodes with a common system image GUID form one system") {
    const grouped_fabric f(chassis_fabric());
    using names = std::set<std::string>;
    CHECK(f.with("H-1") == names{"H-1", "H-2"});
    CHECK(f.with("D-2") == names{"D-1", "D-2"});
    CHECK(f.with("T-1") == names{"T-1", "T-2"});
    CHECK(f.with("I-2") == names{"I-1", "I-2"});
    CHECK(f.with("xsigo manager") == names{"X-leaf1", "X-leaf2", "xsigo manager", "X-card3", "X-card4"});
    for (const char* alone : {"start", "core", "T-alone", "X-far", "MF0;alone:SX6506/L02/U1"})
        CHECK(f.with(alone).empty());
    for (u32 number = 0; const discovery::chassis& c : f.groups.chassis) CHECK(c.number == ++number);
}

TEST_CASE("the description of a Mellanox board gives its position") {
    const auto slot = [](const std::string& description) {
        described_fabric f;
        const described_fabric::described IS4{0x2c9, 0xbd36, 0x100};
        f.add_switch("one", 36, 0x100, IS4, description);
        f.add_switch("other", 36, 0x200, IS4);
        f.link("one", 1, "other", 1);
        const grouped_fabric g(f.text());
        CHECK(g.with("other").size() == 2);
        return g.slot(description);
    };
    CHECK(slot("MF0;h:SX6536/L36/U1") == "Line 36 Chip 1");
    CHECK(slot("MF0;h:SX6536/S18:board/U2") == "Spine 18 Chip 2");
    for (const char* no_board :
         {"MF0;h:SX6536/L37/U1", "MF0;h:SX6536/L00/U1", "MF0;h:SX6536/S19/U1", "MF0;h:SX6536/L/U1", "MF0;h:SX6536/L1",
          "MF0;h:SX6536/X1/U1", "MF0;h:SX6536/L1:board", "MF0;h:SX6536/L1/1", "MF0;h:SX6536", "MF0;h",
          "MF1;h:SX6536/L1/U1", "MF0;h:SX6536//U1", "MF0;h:SX6536/L999/U1"}) {
        CAPTURE(no_board);
        CHECK(slot(no_board).empty());
    }
}

TEST_CASE("a slot holds one board, and board types are truncated as in libibnetdisc") {
    const grouped_fabric f(chassis_fabric());
    const chassis_place& line = f.place("MF0;sx6536:a type of more than 20 letters/L01/U2");
    CHECK(line.type == "a type of more than"); // cut to 19 characters
    REQUIRE(line.is_in_chassis());
    CHECK(f.groups.chassis[line.chassis].lines.size() == 2);
    CHECK(f.groups.chassis[line.chassis].spines.size() == 2);
    CHECK(f.groups.chassis[line.chassis].others.size() == 2); // MGMT and a node without information
}

TEST_CASE("a router sits where a line board could sit") {
    const auto with_router = [](bool is_ca, unsigned spine_device, u64 spine_guid) {
        described_fabric f;
        f.add_switch("spine", 24, spine_guid, {voltaire, spine_device, 0});
        f.add_switch("line", 24, 0x200, {voltaire, 0x5a09, 0});
        const described_fabric::described IP{voltaire, 0x5a01, 0};
        if (is_ca) f.add_ca("router", 2, 0x300, IP);
        else f.add_switch("router", 2, 0x300, IP);
        f.link("spine", 1, "line", 1);
        f.link("spine", 7, "router", 1);
        return grouped_fabric(f.text());
    };
    // Port 7 of an sFB-4 leads to slot 2, and to the third of its three chips.
    for (const bool is_ca : {false, true}) {
        const auto f = with_router(is_ca, 0x5a0b, 0x100);
        CHECK(f.slot("router") == "SRBD 2 Chip 3");
        CHECK(f.place("router").type == "ISR9096");
        CHECK(f.groups.chassis.at(0).lines == std::vector<u32>{f.index("line"), f.index("router")});
    }
    // Slot 4 of an sFB-12. The GUID selects the chip.
    CHECK(with_router(true, 0x5a08, 0x101).slot("router") == "SRBD 4 Chip 3");
    CHECK(with_router(true, 0x5a08, 0x102).slot("router") == "SRBD 4 Chip 2");
    CHECK(with_router(true, 0x5a08, 0x103).slot("router") == "SRBD 4 Chip 1");
    // An ISR4700 has no slot, because it has no position. libibnetdisc gives up here.
    CHECK(with_router(true, 0x5a5c, 0x100).slot("router").empty());
}

TEST_CASE("boards whose cables match no known board have no position") {
    described_fabric f;
    f.add_switch("spine", 36, 0x100, {voltaire, 0x5a08, 0});
    f.add_switch("lonely", 36, 0x104, {voltaire, 0x5a5c, 0}); // a spine without line boards
    f.add_switch("line", 24, 0x200, {voltaire, 0x5a09, 0});
    f.add_switch("line too", 36, 0x204, {voltaire, 0x5a09, 0});
    f.add_switch("high", 254, 0x208, {voltaire, 0x5a5b, 0});
    f.add_switch("last", 24, 0x20c, {voltaire, 0x5a09, 0});
    f.link("spine", 1, "line", 1);
    f.link("spine", 24, "last", 1);     // the last port that leads to a slot
    f.link("spine", 25, "line too", 1); // no slot has that port
    f.link("spine", 2, "lonely", 1);    // a spine connected to a spine
    f.link("line", 2, "line too", 2);   // a line board connected to a line board
    f.link("lonely", 30, "high", 200);  // beyond all internal ports
    f.link("high", 3, "high", 4);
    const grouped_fabric g(f.text());
    CHECK(g.slot("spine") == "Spine 1 Chip 1");
    CHECK(g.slot("line") == "Line 1 Chip 1");
    CHECK(g.slot("last") == "Line 12 Chip 2");
    CHECK(g.with("line") == std::set<std::string>{"spine", "line", "last"});
    for (const char* nowhere : {"lonely", "line too", "high"}) CHECK_FALSE(g.place(nowhere).is_in_chassis());
}

TEST_CASE("an unknown board does not occupy a line slot, not even the first one") {
    described_fabric f;
    f.add_switch("spine", 36, 0x100, {voltaire, 0x5a08, 0});
    f.add_switch("line", 24, 0x200, {voltaire, 0x5a09, 0});
    f.add_switch("no board", 24, 0x300, {0x2c9, 1, 0});
    f.link("spine", 1, "no board", 1);
    f.link("spine", 3, "line", 1);
    const grouped_fabric g(f.text());
    CHECK(g.slot("line") == "Line 2 Chip 1");
    CHECK(g.with("line") == std::set<std::string>{"spine", "line"});
}

TEST_CASE("socket numbers stop at the number of sockets of the board type") {
    described_fabric f;
    f.add_switch("spine", 40, 0x100, {voltaire, 0x5a5d, 0}); // with sockets for 12x at ports 19 to 36
    f.add_switch("line", 40, 0x200, {voltaire, 0x5a5b, 0});  // with sockets 1 to 18 there
    f.link("spine", 1, "line", 1);
    const grouped_fabric g(f.text());
    const auto socket = [&](std::string_view name, u8 port) { return g.groups.external_port({g.index(name), port}); };
    CHECK(g.slot("spine") == "Spine 1 Chip 2"); // the chips of a double spine count down
    CHECK(socket("spine", 18) == 0);
    CHECK(socket("spine", 19) == 1);
    CHECK(socket("spine", 36) == 6);
    CHECK(socket("spine", 37) == 0);
    CHECK(socket("line", 18) == 0);
    CHECK(socket("line", 19) == 1);
    CHECK(socket("line", 36) == 18);
    CHECK(socket("line", 37) == 0);
}

TEST_CASE("a topology file grouped by chassis can be read again") {
    const grouped_fabric f(chassis_fabric());
    const std::string text = format_topology(f.s, {}, {.full = false, .mads_used = {}, .grouping = true});
    CHECK_THAT(text, Catch::Contains("# Spine Nodes") && Catch::Contains("Hostname: xsigo manager"));
    const grouped_fabric again(text);
    CHECK(again.s.nodes.size() == f.s.nodes.size());
    CHECK(again.s.link_count() == f.s.link_count());
    CHECK(again.groups.chassis.size() == f.groups.chassis.size());
}

TEST_CASE("the JSON form has numbered systems and external ports") {
    const grouped_fabric f(chassis_fabric());
    const auto all = nlohmann::json::parse(json_text(f.s));
    REQUIRE(all.at("chassis").size() == f.groups.chassis.size());
    const u32 where = f.place("ISR9288-line-3.2").chassis;
    const auto& c = all.at("chassis").at(where);
    CHECK(c.at("number") == where + 1);
    CHECK(c.at("nodes").size() == 10);
    CHECK(c.at("nodes").at(0).at("board") == "spine");
    CHECK(c.at("nodes").at(9) ==
          nlohmann::json{{"nodeGUID", all.at("nodes").at(f.index("ISR9288-line-3.2")).at("nodeGUID")},
                         {"board", "line"},
                         {"slot", 3},
                         {"chip", 2},
                         {"type", "ISR9288"}});
    const auto& ports = all.at("nodes").at(f.index("ISR9288-line-1.2")).at("ports");
    const auto port_19 = std::ranges::find_if(ports, [](const auto& p) { return p.at("port") == 19; });
    REQUIRE(port_19 != ports.end());
    CHECK(port_19->at("external_port") == 7);
    CHECK_FALSE(ports.at(1).contains("external_port"));
}

} // namespace chassis_test
