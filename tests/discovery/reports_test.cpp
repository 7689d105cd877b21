// SPDX-License-Identifier: MIT
// reports_test.cpp - reports of a hand-made subnet with properties that simulators do not have. The expected texts
// follow the formats in rdma-core's infiniband-diags/ibnetdiscover.c and its scripts.
#include "support/catch.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <nlohmann/json.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace comad;
using namespace comad::discovery;
using discovery::failure_kind;
using iba::NodeType;

namespace {

constexpr u32 extended_speeds = 0x4000; // a bit in capabilityMask

u32 add(subnet& s, NodeType type, u8 num_ports, u64 nodeGUID, u64 systemImageGUID, std::string description) {
    const auto index = static_cast<u32>(s.nodes.size());
    node& n = s.nodes.emplace_back();
    n.info.nodeType = type;
    n.info.numPorts = num_ports;
    n.info.nodeGUID = n.info.portGUID = iba::guid{nodeGUID};
    n.info.systemImageGUID = iba::guid{systemImageGUID};
    n.info.vendorID = 0x2c9;
    n.info.deviceID = 0xd2f0;
    n.description = std::move(description);
    n.ports.resize(num_ports + 1u);
    s.by_guid.emplace(n.info.nodeGUID, index);
    return index;
}

struct port_facts {
    u64 portGUID;
    unsigned LID = 0, LMC = 0, width = 2, speed = 4, extended = 0, extended2 = 0;
    u32 capabilities = 0;
};
void set(port& p, const port_facts& facts) {
    p.portGUID = iba::guid{facts.portGUID};
    iba::smp::PortInfo& i = p.info.emplace();
    i.LID = iba::lid{static_cast<u16>(facts.LID)};
    i.LMC = static_cast<u8>(facts.LMC);
    i.linkWidthActive = iba::LinkWidth{static_cast<u8>(facts.width)};
    i.linkSpeedActive = iba::LinkSpeed{static_cast<u8>(facts.speed)};
    i.linkSpeedExtActive = iba::LinkSpeedExt{static_cast<u8>(facts.extended)};
    i.linkSpeedExtActive2 = iba::LinkSpeedExt2{static_cast<u8>(facts.extended2)};
    i.capabilityMask = facts.capabilities;
    i.VLCap = iba::VLCap::VL0_7;
}

void cable(subnet& s, u32 a, u8 port_a, u32 b, u8 port_b) {
    s.nodes[a].ports[port_a].peer = {b, port_b};
    s.nodes[b].ports[port_b].peer = {a, port_a};
}

// Returns a subnet of a host with two ports, a router, and a switch between them with every unusual property.
subnet odd_subnet() {
    subnet s;
    const u32 host = add(s, NodeType::CA, 2, 0x2000, 0x2003, "host HCA-1");
    const u32 sw = add(s, NodeType::Switch, 5, 0x1000, 0, "sw \x1b[31m\nred");
    const u32 router = add(s, NodeType::Router, 2, 0x3000, 0x3000, "way out");
    s.nodes[host].info.portGUID = iba::guid{0x2001};
    s.start_port = 1;
    s.nodes[sw].switch_info.emplace().enhancedPort0 = true;

    set(s.nodes[sw].ports[0], {.portGUID = 0x1000, .LID = 3, .LMC = 1, .capabilities = extended_speeds});
    set(s.nodes[sw].ports[1], {.portGUID = 0x1000, .extended = 2});
    set(s.nodes[sw].ports[2], {.portGUID = 0x1000});
    s.nodes[sw].ports[2].fdr10 = true;
    set(s.nodes[sw].ports[3], {.portGUID = 0x1000, .width = 3, .extended = 6});
    set(s.nodes[sw].ports[4], {.portGUID = 0x1000, .width = 1, .speed = 1});
    // The query of port 5 failed.
    s.nodes[sw].ports[5].portGUID = iba::guid{0x1000};

    set(s.nodes[host].ports[1], {.portGUID = 0x2001, .LID = 1, .extended = 2, .capabilities = extended_speeds});
    // The extended speeds of this port do not count.
    set(s.nodes[host].ports[2], {.portGUID = 0x2002, .LID = 5, .LMC = 2, .width = 1, .speed = 1, .extended = 2});
    set(s.nodes[router].ports[2], {.portGUID = 0x3002, .LID = 49151, .width = 4, .speed = 2});
    cable(s, host, 1, sw, 1);
    cable(s, host, 2, sw, 3);
    cable(s, router, 2, sw, 2);
    return s;
}

node_names read_names(const std::string& text, std::vector<std::string>& warnings) {
    std::istringstream in(text);
    return node_names::read(in, "names", warnings);
}
/// Reads a text in which each line is valid.
node_names read_names(const std::string& text) {
    std::vector<std::string> warnings;
    const node_names names = read_names(text, warnings);
    CHECK(warnings.empty());
    return names;
}

} // namespace

TEST_CASE("reports end for a node that claims 255 ports, one more than possible") {
    for (const NodeType type : {NodeType::Switch, NodeType::CA}) {
        subnet s;
        const u32 many = add(s, type, 255, 0x1000, 0x1000, "many"),
                  host = add(s, NodeType::CA, 1, 0x2000, 0x2000, "host");
        s.start_port = 1;
        set(s.nodes[many].ports[255], {.portGUID = 0x1000});
        set(s.nodes[host].ports[1], {.portGUID = 0x2000});
        cable(s, many, 255, host, 1);
        CHECK_THAT(format_topology(s, {}, {}), Catch::Contains("\n[255]"));
    }
}

TEST_CASE("a topology file has the stanzas of infiniband-diags for switches, CAs and routers") {
    CHECK(format_topology(odd_subnet(), {}, {.mads_used = {}, .generated_on = "Thu Jan  1 00:00:00 1970"}) ==
          "#\n"
          "# Topology file: generated on Thu Jan  1 00:00:00 1970\n"
          "#\n"
          "# Initiated from node 0000000000002000 port 0000000000002001\n"
          "\n"
          "vendid=0x2c9\n"
          "devid=0xd2f0\n"
          "switchguid=0x1000(1000)\n"
          "Switch\t5 \"S-0000000000001000\"\t\t# \"sw \\x1b[31m\\x0ared\" enhanced port 0 lid 3 lmc 1\n"
          "[1]\t\"H-0000000000002000\"[1](2001) \t\t# \"host HCA-1\" lid 1 4xEDR\n"
          "[2]\t\"R-0000000000003000\"[2](3002) \t\t# \"way out\" lid 49151 4xFDR10\n"
          "[3]\t\"H-0000000000002000\"[2](2002) \t\t# \"host HCA-1\" lid 5 ?????\n"
          "\n"
          "vendid=0x2c9\n"
          "devid=0xd2f0\n"
          "sysimgguid=0x2003\n"
          "caguid=0x2000\n"
          "Ca\t2 \"H-0000000000002000\"\t\t# \"host HCA-1\"\n"
          "[1](2001) \t\"S-0000000000001000\"[1]\t\t# lid 1 lmc 0 \"sw \\x1b[31m\\x0ared\" lid 3 4xEDR\n"
          "[2](2002) \t\"S-0000000000001000\"[3]\t\t# lid 5 lmc 2 \"sw \\x1b[31m\\x0ared\" lid 3 1xSDR\n"
          "\n"
          "vendid=0x2c9\n"
          "devid=0xd2f0\n"
          "sysimgguid=0x3000\n"
          "rtguid=0x3000\n"
          "Rt\t2 \"R-0000000000003000\"\t\t# \"way out\"\n"
          "[2](3002) \t\"S-0000000000001000\"[2]\t\t# lid 49151 lmc 0 \"sw \\x1b[31m\\x0ared\" lid 3 8xDDR\n");
}

TEST_CASE("format_topology adds link codes with -f and hops and MADs to the head with -m") {
    subnet s;
    const u32 a = add(s, NodeType::CA, 1, 0xa, 0xa, "a");
    const u32 b = add(s, NodeType::CA, 1, 0xb, 0xb, "b");
    s.start_port = 1;
    set(s.nodes[a].ports[1], {.portGUID = 0xa1, .extended = 4, .capabilities = extended_speeds});
    set(s.nodes[b].ports[1], {.portGUID = 0xb1, .LID = 2, .extended = 4, .capabilities = extended_speeds});
    cable(s, a, 1, b, 1);
    put_in_order(s);
    // The neighbor is not a switch: its port GUID is between blanks.
    CHECK(format_topology(s, {}, {.full = true, .mads_used = 12932, .generated_on = "now"}) ==
          "#\n"
          "# Topology file: generated on now\n"
          "#\n"
          "# Reported max hops discovered: 1\n"
          "# Total MADs used: 12932\n"
          "# Initiated from node 000000000000000a port 00000000000000a1\n"
          "\n"
          "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xa\ncaguid=0xa\n"
          "Ca\t1 \"H-000000000000000a\"\t\t# \"a\"\n"
          "[1](a1) \t\"H-000000000000000b\"[1] (b1) \t\t# lid 0 lmc 0 \"b\" lid 2 4xHDR s=4 w=2 v=4\n"
          "\n"
          "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0xb\ncaguid=0xb\n"
          "Ca\t1 \"H-000000000000000b\"\t\t# \"b\"\n"
          "[1](b1) \t\"H-000000000000000a\"[1] (a1) \t\t# lid 2 lmc 0 \"a\" lid 0 4xHDR s=4 w=2 v=4\n");
}

TEST_CASE("the ports report has a line for each known port in descending order") {
    CHECK(ports_report(odd_subnet(), {}) ==
          "CA     5  2 0x0000000000002002 1x SDR - SW     3  3 0x0000000000001000 ( 'host HCA-1' - "
          "'sw \\x1b[31m\\x0ared' )\n"
          "CA     1  1 0x0000000000002001 4x EDR - SW     3  1 0x0000000000001000 ( 'host HCA-1' - "
          "'sw \\x1b[31m\\x0ared' )\n"
          "SW     3  4 0x0000000000001000 1x SDR                                    'sw \\x1b[31m\\x0ared'\n"
          "SW     3  3 0x0000000000001000 ?? ??? - CA     5  2 0x0000000000002002 ( 'sw \\x1b[31m\\x0ared' - "
          "'host HCA-1' )\n"
          "SW     3  2 0x0000000000001000 4x FDR10 - RT 49151  2 0x0000000000003002 ( 'sw \\x1b[31m\\x0ared' - "
          "'way out' )\n"
          "SW     3  1 0x0000000000001000 4x EDR - CA     1  1 0x0000000000002001 ( 'sw \\x1b[31m\\x0ared' - "
          "'host HCA-1' )\n"
          "RT 49151  2 0x0000000000003002 8x DDR - SW     3  2 0x0000000000001000 ( 'way out' - "
          "'sw \\x1b[31m\\x0ared' )\n");
}

TEST_CASE("node lists have a line per node of the requested types in the requested order") {
    const subnet s = odd_subnet();
    const std::string host = "Ca\t : 0x0000000000002000 ports 2 devid 0xd2f0 vendid 0x2c9 \"host HCA-1\"\n";
    const std::string sw = "Switch\t : 0x0000000000001000 ports 5 devid 0xd2f0 vendid 0x2c9 \"sw \\x1b[31m\\x0ared\"\n";
    const std::string router = "Router\t : 0x0000000000003000 ports 2 devid 0xd2f0 vendid 0x2c9 \"way out\"\n";
    CHECK(node_list(s, {}, {NodeType::CA, NodeType::Switch, NodeType::Router}) == host + sw + router);
    CHECK(node_list(s, {}, {NodeType::Router}) == router);
    CHECK(format_hosts(s, {}) == "Ca\t: 0x0000000000002000 ports 2 \"host HCA-1\"\n");
    CHECK(format_switches(s, {}) ==
          "Switch\t: 0x0000000000001000 ports 5 \"sw \\x1b[31m\\x0ared\" enhanced port 0 lid 3 lmc 1\n");
}

TEST_CASE("widths and speeds have the names of infiniband-diags, and unknown ones are question marks") {
    subnet s;
    add(s, NodeType::CA, 1, 0xa, 0xa, "a");
    const auto names = [&](const port_facts& facts) {
        set(s.nodes[0].ports[1], facts);
        return std::string(format_link_width(s.nodes[0].ports[1])) + std::string(format_link_speed(s, {0, 1}));
    };
    const auto with = [](unsigned width, unsigned speed, unsigned extended) {
        return port_facts{
            .portGUID = 1, .width = width, .speed = speed, .extended = extended, .capabilities = extended_speeds};
    };
    CHECK(names(with(1, 1, 0)) == "1xSDR");
    CHECK(names(with(2, 2, 0)) == "4xDDR");
    CHECK(names(with(4, 4, 0)) == "8xQDR");
    CHECK(names(with(8, 4, 1)) == "12xFDR");
    CHECK(names(with(16, 4, 2)) == "2xEDR");
    CHECK(names(with(2, 4, 4)) == "4xHDR");
    CHECK(names(with(2, 1, 8)) == "4xNDR");
    CHECK(names(with(0, 0, 0)) == "?????");
    CHECK(names(with(6, 3, 0)) == "?????");
    CHECK(names(with(2, 4, 3)) == "4x???");
    CHECK(names(with(2, 8, 0)) == "4x???"); // reserved, and no FDR
    // XDR is in linkSpeedExtActive2, with or without NDR.
    port_facts fastest = with(2, 4, 8);
    fastest.extended2 = 1;
    CHECK(names(fastest) == "4xXDR");
    fastest.extended = 0;
    CHECK(names(fastest) == "4xXDR");
    fastest.extended2 = 2;
    CHECK(names(fastest) == "4x???");
    fastest.capabilities = 0;
    CHECK(names(fastest) == "4xQDR");
    s.nodes[0].ports[1].info.reset();
    CHECK(format_link_width(s.nodes[0].ports[1]) == "??");
    CHECK(format_link_speed(s, {0, 1}) == "???");
}

TEST_CASE("the speed of a switch without PortInfo of port 0 is unknown because extended speeds may apply") {
    subnet s = odd_subnet();
    s.nodes[1].ports[0].info.reset();
    CHECK(format_link_speed(s, {1, 1}) == "???");
    CHECK(format_link_speed(s, {0, 1}) == "EDR");
}

TEST_CASE("an XDR link is XDR in every report") {
    subnet s = odd_subnet();
    for (const port_ref end : {port_ref{0, 1}, port_ref{1, 1}})
        s.nodes[end.node].ports[end.port].info->linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR;
    const std::string text = format_topology(s, {}, {});
    CHECK(text.find("# \"host HCA-1\" lid 1 4xXDR\n") != std::string::npos);
    CHECK(text.find(" lid 3 4xXDR\n") != std::string::npos);
    CHECK(ports_report(s, {}).find("0x0000000000002001 4x XDR - SW") != std::string::npos);
    const auto nodes = nlohmann::json::parse(json_text(s)).at("nodes");
    CHECK(nodes.at(0).at("ports").at(0).at("linkSpeedActive") == "XDR");
    CHECK(nodes.at(1).at("ports").at(1).at("linkSpeedActive") == "XDR");
}

TEST_CASE("the reports of an empty subnet contain only the head of the topology file") {
    CHECK(format_topology({}, {}, {.mads_used = {}, .generated_on = "now"}) ==
          "#\n# Topology file: generated on now\n#\n");
    CHECK(ports_report({}, {}).empty());
    CHECK(nlohmann::json::parse(json_text({})).at("nodes").empty());
}

TEST_CASE("every report applies the node name map") {
    const subnet s = odd_subnet();
    const node_names names = read_names("# a comment, with a \"quote\"\n"
                                        "\n"
                                        "0x1000 \"core #1\"  # why \"core\"\n"
                                        "   0X0000000000002000\t\"h\x1b\"\r\n"
                                        "0x1000 \"the first one counts\"\n"
                                        "0x3000 no quotes # either\n"
                                        "0x4000 \"nobody\"\n");
    CHECK(names.of(s.nodes[0]) == "h\\x1b");
    CHECK(names.of(s.nodes[1]) == "core #1");
    CHECK(names.of(s.nodes[2]) == "no quotes");
    const std::string topology = format_topology(s, names, {});
    CHECK(topology.find("Switch\t5 \"S-0000000000001000\"\t\t# \"core #1\" enhanced") != std::string::npos);
    CHECK(topology.find("Ca\t2 \"H-0000000000002000\"\t\t# \"h\\x1b\"\n") != std::string::npos);
    CHECK(topology.find("lid 1 lmc 0 \"core #1\" lid 3 4xEDR") != std::string::npos);
    for (const std::string& text :
         {topology, ports_report(s, names), format_hosts(s, names), format_switches(s, names)}) {
        CHECK(text.find("HCA-1") == std::string::npos);
        CHECK(text.find("red") == std::string::npos);
        CHECK(text.find('\x1b') == std::string::npos);
    }
    CHECK(read_names("").of(s.nodes[0]) == "host HCA-1");
}

TEST_CASE("an invalid line of a node name map is a warning with file and line, and other lines apply") {
    subnet s = odd_subnet();
    node& first = s.nodes[0];
    node& second = s.nodes[1];
    first.info.nodeGUID = iba::guid{1};
    second.info.nodeGUID = iba::guid{2};
    for (const char* line :
         {"hello", "0x \"x\"", "0xg \"x\"", "17 \"decimal or not?\"", "0x1", "0x1 ", "0x1 \"\"", "0x1 \"x", "0x1\"x\"",
          "0x1 \"x\" y", "0x1 # nothing", "0x11111111111111111 \"too long\""}) {
        CAPTURE(line);
        std::vector<std::string> warnings;
        const node_names names =
            read_names(std::string("0x1 \"good\"\n# fine\n") + line + "\n0x2 \"good, too\"\n", warnings);
        REQUIRE(warnings.size() == 1);
        CHECK(warnings[0].starts_with("names:3: "));
        CHECK(warnings[0].find('\n') == std::string::npos);
        CHECK(names.of(first) == "good");
        CHECK(names.of(second) == "good, too");
    }
}

TEST_CASE("the JSON form has nodes, ports, links and failures under their IBA names") {
    subnet s = odd_subnet();
    put_in_order(s);
    const u8 hops[] = {1, 5};
    s.failures = {
        {failure_kind::timeout, {iba::guid{0x1000}, 5, mad::IBDRPath(hops)}, "no answer"},
        {failure_kind::too_far, {iba::guid{0x1000}}, "\xff\x1b"},
        {failure_kind::error_reply, {}, ""},
        {failure_kind::send_failed, {}, ""},
        {failure_kind::contradiction, {}, ""},
        {failure_kind::cancelled, {}, ""},
    };
    const std::string text = json_text(s);
    CHECK(text.find('\x1b') == std::string::npos);
    const auto j = nlohmann::json::parse(text);
    CHECK(j.at("schema") == "comad.subnet/1");
    CHECK(j.at("complete") == false);
    CHECK(j.at("start").at("nodeGUID") == "0000:0000:0000:2000");
    CHECK(j.at("start").at("port") == 1);
    CHECK(j.at("counts") == nlohmann::json{{"switches", 1}, {"CAs", 1}, {"routers", 1}, {"links", 3}});

    const auto& sw = j.at("nodes").at(1);
    CHECK(sw.at("nodeType") == "Switch");
    CHECK(sw.at("description") == "sw \x1b[31m\nred");
    CHECK(sw.at("route") == nlohmann::json{0, 1});
    CHECK(sw.at("enhancedPort0") == true);
    CHECK(sw.at("ports").size() == 5);
    CHECK(sw.at("ports").at(0).at("LID") == 3);
    CHECK(sw.at("ports").at(0).at("LMC") == 1);
    const auto& fdr10 = sw.at("ports").at(2);
    CHECK(fdr10.at("port") == 2);
    CHECK(fdr10.at("linkSpeedActive") == "FDR10");
    CHECK_FALSE(fdr10.contains("LID"));
    CHECK(fdr10.at("peer") == nlohmann::json{{"nodeGUID", "0000:0000:0000:3000"}, {"port", 2}});
    CHECK(j.at("nodes").at(2).at("ports").at(0).at("LID") == 49151);

    const auto& problems = j.at("problems");
    REQUIRE(problems.size() == 6);
    CHECK(problems[0] == nlohmann::json{{"kind", "timeout"},
                                        {"nodeGUID", "0000:0000:0000:1000"},
                                        {"port", 5},
                                        {"route", {0, 1, 5}},
                                        {"text", "no answer"}});
    const char* const kinds[] = {"timeout", "too_far", "error_reply", "send_failed", "contradiction", "cancelled"};
    for (std::size_t i = 0; i < 6; ++i) CHECK(problems[i].at("kind") == kinds[i]);

    s.failures.clear();
    CHECK(nlohmann::json::parse(json_text(s)).at("complete") == true);
}

TEST_CASE("a failure is described in one line with its location") {
    const subnet s = odd_subnet();
    CHECK(describe(s, {failure_kind::timeout, {iba::guid{0x1000}, 5}, "silent"}) ==
          "S-0000000000001000 \"sw \\x1b[31m\\x0ared\"[5]: silent");
    CHECK(describe(s, {failure_kind::timeout, {iba::guid{0x3000}}, "silent"}) ==
          "R-0000000000003000 \"way out\": silent");
    CHECK(describe(s, {failure_kind::cancelled, {}, "stopped"}) == "stopped");
}
