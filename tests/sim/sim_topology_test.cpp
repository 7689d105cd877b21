// SPDX-License-Identifier: MIT
// sim_topology_test.cpp - topologies that are generated, written and read. A real ibsim and ibnetdiscover check them.
#include "ibsim/ibsim_server.hpp"
#include "support/catch.hpp"
#include <comad/transports/sim/detail/topology.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::transports::sim;

namespace {

std::string written(const topology& t) {
    std::ostringstream out;
    write_topology(out, t);
    return out.str();
}

topology parsed(const std::string& text, std::string_view name = "text") {
    std::istringstream in(text);
    return read_topology(in, name);
}

/// Returns the stanzas of a topology file without full-line comments. They must be equal, regardless of the order of
/// nodes.
std::set<std::string> stanzas(const std::string& text) {
    std::set<std::string> all;
    std::istringstream in(text);
    std::string stanza;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) continue;
        if (!line.empty()) {
            stanza += line + '\n';
        } else if (!stanza.empty()) {
            all.insert(std::exchange(stanza, {}));
        }
    }
    if (!stanza.empty()) all.insert(stanza);
    return all;
}

/// Returns the stanzas that only one of two topology files has; empty if both describe the same subnet.
std::string difference(const std::string& ours, const std::string& theirs) {
    const auto a = stanzas(ours), b = stanzas(theirs);
    std::string text;
    for (const auto& stanza : a) text += b.contains(stanza) ? "" : "only ours:\n" + stanza;
    for (const auto& stanza : b) text += a.contains(stanza) ? "" : "only theirs:\n" + stanza;
    return text;
}

/// Returns the subnet as a discovery sees it: GUIDs are the only IDs of nodes, and only the active width and speed are
/// known.
topology discovered(topology t) {
    for (node& n : t.nodes) {
        const char letter = n.is_switch() ? 'S' : n.type == iba::NodeType::CA ? 'H' : 'R';
        n.id = fmt::format("{}-{:016x}", letter, value(n.nodeGUID));
        for (port& p : n.ports) p.enabled = capable_of(p.active);
    }
    return t;
}

/// Returns what a program of infiniband-diags prints about the subnet of an ibsim server.
std::string run_beside(const ibsim_server& server, const std::string& command) {
    // The preloaded library leaves a directory in the current directory.
    const auto line = fmt::format("cd {} && IBSIM_SOCKNAME={} ibsim-run {} 2>/dev/null",
                                  std::filesystem::temp_directory_path().string(), server.sockname(), command);
    FILE* pipe = ::popen(line.c_str(), "r");
    if (!pipe) throw std::runtime_error("popen");
    std::string text;
    char part[65536];
    while (const auto n = std::fread(part, 1, sizeof part, pipe)) text.append(part, n);
    ::pclose(pipe);
    return text;
}

std::size_t reachable(const topology& t, u32 start) {
    std::vector<bool> seen(t.nodes.size());
    std::deque<u32> todo{start};
    seen[start] = true;
    std::size_t count = 0;
    for (; !todo.empty(); todo.pop_front()) {
        ++count;
        for (const port& p : t.nodes[todo.front()].ports) {
            if (!p.linked() || seen[p.peer_node]) continue;
            seen[p.peer_node] = true;
            todo.push_back(p.peer_node);
        }
    }
    return count;
}

struct numbers {
    std::size_t hosts, switches, links;
    friend bool operator==(const numbers&, const numbers&) = default;
};
std::ostream& operator<<(std::ostream& out, const numbers& n) {
    return out << n.hosts << " hosts, " << n.switches << " switches, " << n.links << " links";
}
numbers count(const topology& t) {
    return {t.count(iba::NodeType::CA), t.count(iba::NodeType::Switch), t.link_count()};
}

std::string message_of(const std::string& text) {
    try {
        parsed(text, "net");
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "no error";
}
std::string refusal_of(const char* specification) {
    try {
        make_topology(specification);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "no error";
}

std::filesystem::path example(const char* name) {
    return std::filesystem::path("/usr/share/doc/ibsim-utils/net-examples") / name;
}

} // namespace

TEST_CASE("generated subnets have the numbers of nodes and links that their formulas predict") {
    CHECK(count(make_topology("single")) == numbers{2, 0, 1});
    // k leaves, k/2 spines and k^2/2 hosts. The leaves have as many uplinks as downlinks.
    CHECK(count(make_topology("fattree2,radix=4")) == numbers{8, 6, 16});
    CHECK(count(make_topology("fattree2,radix=36")) == numbers{648, 54, 1296});
    // k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links.
    CHECK(count(make_topology("fattree3,radix=4")) == numbers{16, 20, 48});
    CHECK(count(make_topology("fattree3,radix=16")) == numbers{1024, 320, 3072});
    CHECK(count(make_topology("fattree3,radix=36")) == numbers{11664, 1620, 34992});
    // With p pods, p*k^2/4 hosts, p*k switches and k^2/4 cores, 3p*k^2/4 links.
    CHECK(count(make_topology("fattree3,radix=4,pods=3")) == numbers{12, 16, 36});
    CHECK(count(make_topology("fattree3,radix=64,pods=43")) == numbers{44'032, 2752 + 1024, 132'096});
    // Each switch has one link per dimension and one to its host. A side of length 2 has only one link between its two
    // switches.
    CHECK(count(make_topology("torus,x=4,y=4")) == numbers{16, 16, 32 + 16});
    CHECK(count(make_topology("torus,x=3,y=4,z=5,hosts=2")) == numbers{120, 60, 180 + 120});
    CHECK(count(make_topology("torus,x=2,y=2,z=2,hosts=0")) == numbers{0, 8, 12});
    CHECK(count(make_topology("ring,switches=64,hosts=1")) == numbers{64, 64, 128});
    CHECK(count(make_topology("line,switches=70,hosts=3")) == numbers{210, 70, 69 + 210});
}

TEST_CASE("generated subnets are connected and have consistent cables and unique port GUIDs") {
    const auto* specification = GENERATE("single", "fattree2,radix=8", "fattree3,radix=8", "fattree3,radix=8,pods=3",
                                         "torus,x=3,y=2,z=4,hosts=2", "ring,switches=5,hosts=2", "line,switches=9");
    INFO(specification);
    const topology t = make_topology(specification);
    CHECK(reachable(t, 0) == t.nodes.size());
    CHECK(t.nodes[t.default_node()].description == "h-0001 HCA-1");

    std::set<u64> guids;
    std::set<std::string> names;
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        const node& x = t.nodes[n];
        CHECK(guids.insert(value(x.nodeGUID)).second);
        CHECK(names.insert(x.description).second);
        for (unsigned p = 1; p <= x.num_ports(); ++p) {
            const port& here = x.ports[p];
            if (!x.is_switch()) CHECK(guids.insert(value(here.GUID)).second);
            if (!here.linked()) {
                CHECK(here.state == iba::PortState::Down);
                continue;
            }
            const port& there = t.nodes[here.peer_node].ports[here.peer_port];
            REQUIRE(there.peer_node == n);
            REQUIRE(there.peer_port == p);
            CHECK(here.state == iba::PortState::Initialize);
            CHECK(width_name(here.active.width) == "4x");
            CHECK(speed_name(here.active.speed) == "EDR");
        }
    }
}

TEST_CASE("every port of a fat tree has a cable, and half the leaf ports lead to hosts") {
    const topology t = make_topology("fattree3,radix=6,speed=HDR,width=12x");
    for (const node& n : t.nodes) {
        unsigned hosts = 0;
        for (unsigned p = 1; p <= n.num_ports(); ++p) {
            REQUIRE(n.ports[p].linked());
            CHECK(width_name(n.ports[p].active.width) == "12x");
            CHECK(speed_name(n.ports[p].active.speed) == "HDR");
            hosts += !t.nodes[n.ports[p].peer_node].is_switch();
        }
        CHECK(hosts == (n.description.starts_with("leaf") ? 3 : 0));
    }
}

TEST_CASE("an invalid topology specification is rejected in one line that lists valid values") {
    CHECK(refusal_of("fatree3,radix=16") ==
          "fatree3: unknown kind of subnet; expected one of single, fattree2, fattree3, torus, ring, line");
    CHECK(refusal_of("fattree3,radix=7") == "fattree3: radix=7 is odd; must be an even number, 2..64");
    CHECK(refusal_of("fattree2,radix=256") == "fattree2: radix=256 is invalid; must be an integer, 2..254");
    CHECK(refusal_of("ring,switches=many") == "ring: switches=many is invalid; must be an integer, 3..1000000");
    CHECK(refusal_of("fattree3,rdix=8").starts_with("fattree3: unknown option 'rdix'; the nearest are radix, "));
    CHECK(refusal_of("fattree3,radix=8,pods=9") == "fattree3: pods=9 is invalid; must be an integer, 1..8");
    CHECK(refusal_of("single,speed=UDR") ==
          "single: speed=UDR is unknown; expected one of SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR");
    CHECK(refusal_of("torus,4,4") == "torus: invalid option '4'; expected NAME=VALUE, such as radix=16");
    CHECK(refusal_of("torus,x=4,x=5") == "torus: x is given twice; keep one");
    CHECK(refusal_of("torus,x=1000,y=1000,hosts=1").find("too many") != std::string::npos);
}

TEST_CASE("a topology survives writing and reading") {
    const auto* specification =
        GENERATE("single,speed=NDR,width=2x", "single,speed=XDR,width=1x", "single,speed=FDR10",
                 "fattree2,radix=6,speed=QDR", "torus,x=3,y=3,z=2", "line,switches=4,hosts=0,speed=SDR,width=1x");
    const bool managed = GENERATE(false, true);
    INFO(specification);
    topology t = make_topology(specification);
    if (managed) bring_up(t);
    const topology again = parsed(written(t));
    CHECK(written(again) == written(t));
    CHECK(again.sm_lid == t.sm_lid);
    REQUIRE(again.nodes.size() == t.nodes.size());
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        CHECK(again.nodes[n].type == t.nodes[n].type);
        for (unsigned p = 1; p <= t.nodes[n].num_ports(); ++p) {
            const port &before = t.nodes[n].ports[p], &after = again.nodes[n].ports[p];
            CHECK(after.peer_node == before.peer_node);
            CHECK(after.peer_port == before.peer_port);
            CHECK(after.GUID == before.GUID);
            CHECK(after.LID == before.LID);
            CHECK(after.state == before.state);
            CHECK(after.active == before.active);
            if (before.linked()) CHECK(after.enabled == before.enabled);
        }
    }
}

TEST_CASE("link masks that differ from the active width and speed survive writing and reading") {
    topology t = make_topology("single");
    t.unlink(0, 1);
    t.nodes[0].ports[1].enabled = {2, 4};
    t.nodes[1].ports[1].enabled = {2 | 8, 4 | 2 | 16};
    REQUIRE(t.link(0, 1, 1, 1));
    CHECK(t.nodes[0].ports[1].active == link_codes{2, 4});
    const topology again = parsed(written(t));
    CHECK(again.nodes[0].ports[1].enabled == link_codes{2, 4});
    CHECK(again.nodes[1].ports[1].enabled == link_codes{2 | 8, 4 | 2 | 16});
    CHECK(again.nodes[1].ports[1].active == link_codes{2, 4});
}

TEST_CASE("masks that enable XDR and FDR10 at a lower active speed survive writing and reading") {
    for (const u16 extra : {u16{iba::lane_speed::XDR}, u16{iba::lane_speed::FDR10}}) {
        CAPTURE(extra);
        topology t = make_topology("single,speed=EDR");
        t.nodes[0].ports[1].enabled.speed |= extra;
        const topology again = parsed(written(t));
        CHECK(again.nodes[0].ports[1].enabled == t.nodes[0].ports[1].enabled);
        CHECK(again.nodes[0].ports[1].active == link_codes{2, 16});
        CHECK(again.nodes[1].ports[1].enabled == t.nodes[1].ports[1].enabled);
    }
    // A link that fell back from XDR must not become XDR again after reading.
    topology fallen = make_topology("single,speed=XDR");
    fallen.nodes[1].ports[1].enabled.speed = iba::lane_speed::NDR;
    REQUIRE(fallen.train(0, 1));
    CHECK(parsed(written(fallen)).nodes[0].ports[1].active == link_codes{2, 64});
    CHECK(parsed(written(fallen)).nodes[0].ports[1].enabled == fallen.nodes[0].ports[1].enabled);
}

TEST_CASE("two ports train to the fastest speed that both have enabled, with FDR10 between QDR and FDR") {
    namespace speed = iba::lane_speed;
    const auto trained = [](u32 a, u32 b) -> u32 {
        topology t = make_topology("single");
        t.unlink(0, 1);
        t.nodes[0].ports[1].enabled.speed = static_cast<u16>(a);
        t.nodes[1].ports[1].enabled.speed = static_cast<u16>(b);
        return t.link(0, 1, 1, 1) ? t.nodes[0].ports[1].active.speed : 0u;
    };
    CHECK(trained(7 | speed::FDR10, 7 | speed::FDR10) == speed::FDR10);
    CHECK(trained(7 | speed::FDR10, 7) == speed::QDR);
    CHECK(trained(7 | speed::FDR10 | speed::FDR, 7 | speed::FDR10 | speed::FDR) == speed::FDR);
    CHECK(trained(7 | speed::FDR10 | speed::FDR, 7 | speed::FDR10) == speed::FDR10);
    CHECK(trained(0xff, 0x7f) == speed::NDR);
    CHECK(trained(0xff, 0xff) == speed::XDR);
}

TEST_CASE("ports without a common width or speed do not link") {
    topology t = make_topology("single");
    t.unlink(0, 1);
    CHECK(t.nodes[1].ports[1].state == iba::PortState::Down);
    t.nodes[0].ports[1].enabled = {2, 1};
    t.nodes[1].ports[1].enabled = {2, 2};
    CHECK_FALSE(t.link(0, 1, 1, 1));
    CHECK(t.link_count() == 0);
}

TEST_CASE("the subnet manager assigns a LID to every end port and activates every link") {
    topology t = make_topology("fattree2,radix=4");
    bring_up(t);
    std::set<unsigned> lids;
    for (const node& n : t.nodes) {
        CHECK(lids.insert(value(n.ports[n.first_port()].LID)).second);
        for (unsigned p = 1; p <= n.num_ports(); ++p) CHECK(n.ports[p].state == iba::PortState::Active);
    }
    CHECK(*lids.begin() == 1);
    CHECK(*lids.rbegin() == t.nodes.size());
    CHECK(t.sm_lid == iba::lid{1});

    topology large = make_topology("fattree3,radix=62");
    CHECK_THROWS_WITH(bring_up(large), Catch::Contains("49151 unicast LIDs"));
    topology nearly = make_topology("fattree3,radix=64,pods=43");
    CHECK_NOTHROW(bring_up(nearly));
    CHECK(nearly.nodes.back().ports[0].LID == iba::lid{47'808});
}

TEST_CASE("a node is found by its ID, its description and its GUIDs") {
    const topology t = make_topology("fattree2,radix=4");
    CHECK(t.find("h-0003 HCA-1") == 2u);
    CHECK(t.find(t.nodes[9].id) == 9u);
    CHECK(t.find(fmt::format("{:#x}", value(t.nodes[9].nodeGUID))) == 9u);
    CHECK(t.find(fmt::format("{:#x}", value(t.nodes[4].ports[1].GUID))) == 4u);
    CHECK_FALSE(t.find("0x4"));
    CHECK_FALSE(t.find("0x4z"));
    CHECK_FALSE(t.find("nobody"));
}

TEST_CASE("the topology reader accepts the output of ibnetdiscover -f and -g") {
    const std::string text =
        "Chassis 1 (guid 0x5)\n\n# Spine Nodes\n\n"
        "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x99\t\t# Chassis 1 \n"
        "switchguid=0x77(77)\t# slot\n"
        "Switch\t36 \"S-0000000000000077\"\t\t# \"leaf\" enhanced port 0 lid 7 lmc 2\n"
        "[3][ext 4]\t\"H-0000000000000100\"[2](102) \t\t# \"say \"lid 5\" 1xSDR\" lid 9 4xEDR s=4 w=2 v=4\n"
        "\nNon-Chassis Nodes\n\n"
        "caguid=0x100\nCa\t2 \"H-0000000000000100\"\t\t# \"say \"lid 5\" 1xSDR\"\n"
        "[2](102) \t\"S-0000000000000077\"[3][ext 4]\t\t# lid 9 lmc 1 \"leaf\" lid 7 4xEDR s=4 w=2 v=4\n"
        "\nrtguid=0x200\nRt\t1 \"R-0000000000000200\"\t\t# \"way out\"\n"
        "# Reported max hops discovered: 1\n";
    const topology t = parsed(text);
    REQUIRE(t.nodes.size() == 3);
    const node &leaf = t.nodes[0], &host = t.nodes[1], &router = t.nodes[2];
    CHECK(leaf.vendorID == 0x2c9);
    CHECK(leaf.deviceID == 0xd2f2);
    CHECK(leaf.systemImageGUID == iba::guid{0x99});
    CHECK(leaf.nodeGUID == iba::guid{0x77});
    CHECK(leaf.enhanced_port0);
    CHECK(leaf.ports[0].LID == iba::lid{7});
    CHECK(leaf.ports[0].LMC == 2);
    CHECK(leaf.ports[3].LID == iba::lid{0});
    CHECK(leaf.ports[3].peer_node == 1);
    CHECK(leaf.ports[3].peer_port == 2);
    CHECK(leaf.ports[3].state == iba::PortState::Active);
    CHECK(speed_name(leaf.ports[3].active.speed) == "EDR");
    CHECK(host.description == "say \"lid 5\" 1xSDR");
    CHECK(host.systemImageGUID == host.nodeGUID);
    CHECK(host.ports[2].GUID == iba::guid{0x102});
    CHECK(host.ports[2].LID == iba::lid{9});
    CHECK(host.ports[2].LMC == 1);
    CHECK(router.type == iba::NodeType::Router);
    CHECK(router.nodeGUID == iba::guid{0x200});
    CHECK(t.sm_lid == iba::lid{9});
}

TEST_CASE("a topology file can name a link at one end or by alias, with the masks and default GUIDs of ibsim") {
    const topology t = parsed("speed=3\n"
                              "Switch 4 \"S1\"\n[1] \"H1\"[2]\n[2] \"@uplink\" w=8 s=2\n\n"
                              "Hca 2 \"H1\" # fourth floor\n\n"
                              "width=10\nSwitch 4 \"S2\"\n@[4] \"uplink\"\n");
    REQUIRE(t.nodes.size() == 3);
    CHECK(t.nodes[1].ports[2].peer_node == 0);
    CHECK(t.nodes[1].ports[2].peer_port == 1);
    CHECK(speed_name(t.nodes[1].ports[2].active.speed) == "DDR");
    CHECK(t.nodes[1].description == "fourth floor");
    CHECK(t.nodes[2].ports[4].peer_node == 0);
    CHECK(t.nodes[2].ports[4].active == link_codes{8, 2});
    CHECK(t.nodes[0].nodeGUID == iba::guid{0x200000});
    CHECK(t.nodes[2].nodeGUID == iba::guid{0x200001});
    CHECK(t.nodes[1].ports[2].GUID == iba::guid{0x100002});
}

TEST_CASE("an invalid topology file is rejected with its line and a possible fix") {
    const std::string two = "Switch 4 \"S1\"\n[1] \"S2\"[1]\n\nSwitch 4 \"S2\"\n";
    CHECK(message_of("") == "net:0: the file contains no nodes; expected a topology file of ibnetdiscover or ibsim, "
                            "or a list of links (.lst)");
    CHECK(message_of(two + "[1] \"S1\"[2]\n") ==
          "net:5: port 1 of \"S2\" is already cabled to \"S1\"[1]; both ends of a link must name each other");
    CHECK(message_of(two + "[2] \"S1\"[1]\n").starts_with("net:5: port 1 of \"S1\" is already cabled to \"S2\"[1]; "));
    CHECK(message_of(two + "[3] \"S3\"[1]\n") == "net:5: unknown node \"S3\"; add it, or remove this link");
    CHECK(message_of(two + "[3] \"S1\"[5]\n") == "net:5: \"S1\" has no port 5; its ports are 1..4");
    CHECK(message_of(two + "[5] \"S1\"[3]\n") == "net:5: node \"S2\" does not have this port; its ports are [1]..[4]");
    CHECK(message_of(two + "[0] \"S1\"[3]\n").starts_with("net:5: node \"S2\" does not have this port"));
    CHECK(message_of(two + "[3] \"S2\"[3]\n").starts_with("net:5: a port is cabled to itself"));
    CHECK(message_of(two + "[3] \"@x\"\n").starts_with("net:5: unknown alias \"@x\""));
    CHECK(message_of(two + "[3]\n").starts_with("net:5: the link has no neighbor"));
    CHECK(message_of(two + "[4] \"S1\"[4]\n\n[3] \"S1\"[3]\n").starts_with("net:7: a port line outside of a node"));
    CHECK(message_of("[3] \"S1\"[3]\n" + two).starts_with("net:1: a port line outside of a node"));
    CHECK(message_of(two + "\nSwitch 4 \"S1\"\n").starts_with("net:6: node id \"S1\" is already taken"));
    CHECK(message_of(two + "\nswitchguid=0x200000\nSwitch 4 \"S3\"\n").starts_with("net:7: node GUID 0x200000 is"));
    CHECK(message_of("Switch \"S1\"\n").starts_with("net:1: the number of ports of the node is missing or invalid"));
    CHECK(
        message_of("Switch 256 \"S1\"\n").starts_with("net:1: the number of ports of the node is missing or invalid"));
    CHECK(message_of("Switch 4\n").starts_with("net:1: the node has no id"));
    CHECK(message_of("Swich 4 \"S1\"\n").starts_with("net:1: unrecognized line 'Swich 4 \"S1\"'; "));
    CHECK(message_of("speed=9\n") == "net:1: speed=9 is not a valid mask; must be the sum of the enabled bits, 1..7");
    CHECK(message_of("caguid=here\n").starts_with("net:1: setting 'caguid' has no number"));
    CHECK(message_of("include \"other\"\n").starts_with("net:1: 'include' is not supported; "));
    CHECK(message_of("Switch 4 \"S1\" # \"x\" base port 0 lid 50000 lmc 0\n").starts_with("net:1: invalid lid"));
    CHECK(message_of(two + "[3] \"S1\"[3] w=1\n\nSwitch 1 \"S3\"\n") ==
          "net:5: the two ports have no width or speed in common; change one end's w=, s= or e= mask");
    CHECK(message_of("Switch 4 \"S1\"\n[1] \"S2\"[1] # \"x\" lid 1 4xYDR\n\nSwitch 4 \"S2\"\n") ==
          "net:2: '4xYDR' is not a width and a speed; expected one of 1x, 2x, 4x, 8x, 12x and one of SDR, DDR, QDR, "
          "FDR10, "
          "FDR, EDR, HDR, NDR, XDR, as in 4xEDR");
    CHECK(message_of("Switch 4 \"S1\"\n[1] \"\x01z\"[1]\n").starts_with("net:2: unknown node \"\\x01z\"; "));
    CHECK(message_of(std::string("\0\xff\x01 garbage \n", 13)).starts_with("net:1: "));
}

TEST_CASE("the example topologies of ibsim read as ibsim reads them") {
    const auto* name = GENERATE("net", "net.1", "net.2sw2path", "net.2sw2path4hca", "net.2sw2path4hca2port");
    INFO(name);
    if (!std::filesystem::exists(example(name))) {
        WARN("ibsim-utils' examples are not installed");
        return;
    }
    std::ifstream in(example(name));
    const topology ours = read_topology(in, name);
    const ibsim_server server(ibsim_server::topology_file{example(name)});
    CHECK(difference(written(discovered(ours)), run_beside(server, "ibnetdiscover")) == "");
}

TEST_CASE("a real ibsim accepts a written topology, and ibnetdiscover prints its stanzas") {
    const auto* specification = GENERATE("single", "fattree2,radix=8,speed=HDR", "fattree3,radix=4,speed=FDR,width=1x",
                                         "torus,x=3,y=3,z=3,hosts=2,speed=QDR", "ring,switches=7,hosts=3,width=12x",
                                         "line,switches=5,hosts=0,speed=SDR");
    const bool managed = GENERATE(false, true);
    INFO(specification);
    topology t = make_topology(specification);
    if (managed) bring_up(t);
    t.nodes[0].description = "hosts=64 (w=5, \\ \x7f)"; // an equals sign must not be read as a mask
    const ibsim_server server(written(t));
    const std::string seen = run_beside(server, "ibnetdiscover");
    const topology again = parsed(seen, "ibnetdiscover");
    CHECK(count(again) == count(t));

    // ibsim prints the equals signs of the description at links. The file of the simulator does not.
    t.nodes[0].description = "hosts 64";
    const ibsim_server plain(written(t));
    CHECK(difference(written(t), run_beside(plain, "ibnetdiscover")) == "");
}

TEST_CASE("ibnetdiscover -f and -g outputs from a real ibsim read as the original subnet") {
    topology t = make_topology("fattree2,radix=6");
    bring_up(t);
    const ibsim_server server(written(t));
    for (const char* option : {"-f", "-g", "-m"}) {
        const topology seen = parsed(run_beside(server, fmt::format("ibnetdiscover {}", option)), option);
        CHECK(difference(written(t), written(discovered(seen))) == "");
    }
}
