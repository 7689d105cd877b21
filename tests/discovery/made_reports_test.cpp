// SPDX-License-Identifier: MIT
// made_reports_test.cpp - reports of a subnet in which no two fields of nodes and ports are equal, so that each value
// in the text is unique. The expected texts follow the formats in ibnetdiscover.c of infiniband-diags and its scripts.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace made_reports_test {

using namespace comad;
using namespace comad::discovery;
using nlohmann::json;
using test::made_host_port, test::made_router_port, test::made_switch_port;

namespace {

u64 number(iba::guid g) { return value(g); }
unsigned lid_of(const port& p) { return value(p.info->LID); }
unsigned lmc_of(const port& p) { return p.info->LMC; }
u64 node_guid(const node& n) { return value(n.info.nodeGUID); }
/// Returns the three lines at the start of a stanza.
std::string ids_of(const node& n) {
    return fmt::format("\nvendid=0x{:x}\ndevid=0x{:x}\nsysimgguid=0x{:x}\n", n.info.vendorID, n.info.deviceID,
                       number(n.info.systemImageGUID));
}
/// Returns what -f prints for a link, in the codes of the IBA: ` s=4 w=2 v=5`.
std::string codes_of(const port& p) {
    return fmt::format(" s={} w={} v={}", static_cast<unsigned>(p.info->linkSpeedActive),
                       static_cast<unsigned>(p.info->linkWidthActive), static_cast<unsigned>(p.info->VLCap));
}

} // namespace

TEST_CASE("a topology file prints each value in its own field") {
    subnet s = test::made_subnet();
    s.nodes[0].switch_info->enhancedPort0 = true;
    const auto &sw = s.nodes[0], &host = s.nodes[1], &router = s.nodes[2];
    const auto &to_host = s.at(made_switch_port), &of_host = s.at(made_host_port), &of_router = s.at(made_router_port),
               &to_router = sw.ports[1];
    std::string wanted = "#\n# Topology file: generated on a day\n#\n"
                         "# Reported max hops discovered: 1\n# Total MADs used: 77\n";
    wanted += fmt::format("# Initiated from node {:016x} port {:016x}\n", node_guid(sw), number(sw.info.portGUID));
    wanted += ids_of(sw) + fmt::format("switchguid=0x{:x}({:x})\n", node_guid(sw), number(sw.info.portGUID));
    wanted += fmt::format("Switch\t4 \"S-{:016x}\"\t\t# \"made switch\" enhanced port 0 lid {} lmc {}\n", node_guid(sw),
                          lid_of(sw.ports[0]), lmc_of(sw.ports[0]));
    wanted += fmt::format("[1]\t\"R-{:016x}\"[1]({:x}) \t\t# \"made router\" lid {} 1xSDR{}\n", node_guid(router),
                          number(of_router.portGUID), lid_of(of_router), codes_of(to_router));
    wanted += fmt::format("[3]\t\"H-{:016x}\"[2]({:x}) \t\t# \"made host\" lid {} 4xQDR{}\n", node_guid(host),
                          number(of_host.portGUID), lid_of(of_host), codes_of(to_host));
    wanted += ids_of(host) +
              fmt::format("caguid=0x{:x}\nCa\t2 \"H-{:016x}\"\t\t# \"made host\"\n", node_guid(host), node_guid(host));
    wanted += fmt::format("[2]({:x}) \t\"S-{:016x}\"[3]\t\t# lid {} lmc {} \"made switch\" lid {} 8xDDR{}\n",
                          number(of_host.portGUID), node_guid(sw), lid_of(of_host), lmc_of(of_host),
                          lid_of(sw.ports[0]), codes_of(of_host));
    wanted += ids_of(router) + fmt::format("rtguid=0x{:x}\nRt\t1 \"R-{:016x}\"\t\t# \"made router\"\n",
                                           node_guid(router), node_guid(router));
    wanted += fmt::format("[1]({:x}) \t\"S-{:016x}\"[1]\t\t# lid {} lmc {} \"made switch\" lid {} 1xSDR{}\n",
                          number(of_router.portGUID), node_guid(sw), lid_of(of_router), lmc_of(of_router),
                          lid_of(sw.ports[0]), codes_of(of_router));
    CHECK(format_topology(s, {}, {.full = true, .mads_used = 77, .generated_on = "a day"}) == wanted);
}

TEST_CASE("the node lists print each value in their own field") {
    const subnet s = test::made_subnet();
    std::string all;
    const auto line = [](const char* type, const node& n, const char* name) {
        return fmt::format("{}\t : 0x{:016x} ports {} devid 0x{:x} vendid 0x{:x} \"{}\"\n", type, node_guid(n),
                           n.info.numPorts, n.info.deviceID, n.info.vendorID, name);
    };
    CHECK(node_list(s, {}, {iba::NodeType::Router, iba::NodeType::Switch, iba::NodeType::CA}) ==
          line("Router", s.nodes[2], "made router") + line("Switch", s.nodes[0], "made switch") +
              line("Ca", s.nodes[1], "made host"));
    CHECK(format_hosts(s, {}) == fmt::format("Ca\t: 0x{:016x} ports 2 \"made host\"\n", node_guid(s.nodes[1])));
    CHECK(format_routers(s, {}) == fmt::format("Rt\t: 0x{:016x} ports 1 \"made router\"\n", node_guid(s.nodes[2])));
    CHECK(format_switches(s, {}) == fmt::format("Switch\t: 0x{:016x} ports 4 \"made switch\" {} port 0 lid {} lmc {}\n",
                                                node_guid(s.nodes[0]),
                                                s.nodes[0].switch_info->enhancedPort0 ? "enhanced" : "base",
                                                lid_of(s.nodes[0].ports[0]), lmc_of(s.nodes[0].ports[0])));
}

TEST_CASE("the ports report prints each value in its own field") {
    const subnet s = test::made_subnet();
    const auto end = [&](const char* type, port_ref r) {
        return fmt::format("{} {:5} {:2} 0x{:016x} ", type, lid_of(s.end_port(r)), r.port, number(s.at(r).portGUID));
    };
    const std::string text = ports_report(s, {});
    const auto has_line = [&](const std::string& line) {
        CAPTURE(line);
        CHECK_THAT('\n' + text, Catch::Contains('\n' + line + '\n'));
    };
    has_line(end("SW", made_switch_port) + "4x QDR - " + end("CA", made_host_port) + "( 'made switch' - 'made host' )");
    has_line(end("CA", made_host_port) + "8x DDR - " + end("SW", made_switch_port) + "( 'made host' - 'made switch' )");
    has_line(end("SW", {0, 1}) + "1x SDR - " + end("RT", made_router_port) + "( 'made switch' - 'made router' )");
}

TEST_CASE("the JSON form prints each value in its own member") {
    subnet s = test::made_subnet();
    s.nodes[0].ports[1].info->portState = iba::PortState::Armed;
    s.nodes[0].ports[1].info->portPhysicalState = iba::PortPhysicalState::LinkErrorRecovery;
    for (const auto type : {iba::NodeType::CA, iba::NodeType::CA, iba::NodeType::Router, iba::NodeType::Router,
                            iba::NodeType::Router}) // the count of each type differs from all other counts
        test::add_made_node(s, type, 0, "alone");
    const json all = json::parse(json_text(s));
    CHECK(all["start"] == json{{"nodeGUID", fmt::format("{}", s.nodes[0].info.nodeGUID)}, {"port", 2}});
    CHECK(all["counts"] == json{{"switches", 1}, {"CAs", 3}, {"routers", 4}, {"links", 2}});
    for (std::size_t i = 0; i < 3; ++i) {
        const node& n = s.nodes[i];
        json got = all["nodes"][i];
        const json ports = got["ports"];
        got.erase("ports");
        json wanted{{"nodeType", n.is_switch() ? "Switch"
                                 : i == 1      ? "CA"
                                               : "Router"},
                    {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
                    {"systemImageGUID", fmt::format("{}", n.info.systemImageGUID)},
                    {"vendorID", n.info.vendorID},
                    {"deviceID", n.info.deviceID},
                    {"revision", n.info.revision},
                    {"numPorts", n.info.numPorts},
                    {"description", n.description},
                    {"route", i == 0 ? json{0} : json{0, i == 1 ? 3 : 1}}};
        if (n.is_switch()) {
            wanted["enhancedPort0"] = n.switch_info->enhancedPort0;
            wanted["switchInfo"] = json::parse(iba::json(*n.switch_info));
            wanted["switchInfo"].erase("portStateChange"); // a notice, not a fact
        }
        CHECK(got == wanted);
        for (const json& p : ports) {
            const port_ref r{static_cast<u32>(i), p["port"].get<u8>()};
            const iba::smp::PortInfo& info = *s.at(r).info;
            CAPTURE(r.node, r.port);
            CHECK(p["portGUID"] == fmt::format("{}", s.at(r).portGUID));
            CHECK(p["VLCap"] == static_cast<unsigned>(info.VLCap));
            CHECK(p["neighborMTU"] == static_cast<unsigned>(info.neighborMTU));
            CHECK(p["MTUCap"] == static_cast<unsigned>(info.MTUCap));
            CHECK(p["operationalVLs"] == static_cast<unsigned>(info.operationalVLs));
            CHECK(p["linkWidthSupported"] == json{"1x", "4x", "8x"});
            CHECK(p["linkSpeedSupported"] == json{"SDR", "DDR", "QDR"});
            const bool is_end = !n.is_switch() || r.port == 0;
            CHECK(p.contains("LID") == is_end);
            if (is_end) {
                CHECK(p["LID"] == value(info.LID));
                CHECK(p["LMC"] == info.LMC);
                CHECK(p["capabilityMask"] == info.capabilityMask);
            }
            CHECK(p.contains("capabilities") == is_end);
            const bool is_armed = r == port_ref{0, 1};
            CHECK(p["portState"] == (is_armed ? "Armed" : "Active"));
            CHECK(p["portPhysicalState"] == (is_armed ? "LinkErrorRecovery" : "LinkUp"));
            if (const port_ref peer = s.at(r).peer)
                CHECK(p["peer"] ==
                      json{{"nodeGUID", fmt::format("{}", s.nodes[peer.node].info.nodeGUID)}, {"port", peer.port}});
        }
        CHECK(ports.size() == (n.is_switch() ? 5 : n.info.numPorts));
    }
    CHECK(all["nodes"][0]["ports"][3]["linkWidthActive"] == "4x");
    CHECK(all["nodes"][0]["ports"][3]["linkSpeedActive"] == "QDR");
    CHECK(all["nodes"][1]["ports"][1]["linkWidthActive"] == "8x");
    CHECK(all["nodes"][1]["ports"][1]["linkSpeedActive"] == "DDR");
}

} // namespace made_reports_test
