// SPDX-License-Identifier: MIT
// link_json_test.cpp - each JSON member of a link has its own value and comes from the right end.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/link_json.hpp"
#include "text/link_text.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace link_json_test {

using namespace comad;
using namespace ibtool;
using nlohmann::json;
using test::made_host_port, test::made_switch_port;

namespace {

/// Returns what both ends of a link contain: the abilities of the port. `LMC`: of the end port.
json abilities(const discovery::port& p, unsigned LMC, const json& enabled_widths, const json& enabled_speeds) {
    return {{"linkWidthSupported", {"1x", "4x", "8x"}},
            {"linkWidthEnabled", enabled_widths},
            {"linkSpeedSupported", {"SDR", "DDR", "QDR"}},
            {"linkSpeedEnabled", enabled_speeds},
            {"MTUCap", value(p.info->MTUCap)},
            {"neighborMTU", value(p.info->neighborMTU)},
            {"VLCap", value(p.info->VLCap)},
            {"operationalVLs", value(p.info->operationalVLs)},
            {"LMC", LMC},
            {"HOQLife", p.info->HOQLife},
            {"VLStallCount", p.info->VLStallCount}};
}

json merged(json a, const json& b) {
    a.update(b);
    return a;
}

} // namespace

TEST_CASE("the JSON of a port and its link has each member from the right field and end") {
    discovery::subnet s = test::made_subnet();
    s.nodes[0].ports[3].info->linkWidthEnabled = 1 | 8 | 16; // 1x, 12x, 2x
    s.nodes[0].ports[3].info->linkSpeedEnabled = 1;
    s.nodes[1].ports[2].info->linkWidthEnabled = 2;
    s.nodes[1].ports[2].info->linkSpeedEnabled = 6;
    s.nodes[1].ports[2].info->capabilityMask = 1u << 1 | 1u << 15 | 1u << 31; // without IsExtendedSpeedsSupported
    s.nodes[1].ports[2].info->capabilityMask2 = 1u << 3;
    const auto& [sw, host] = std::pair(s.nodes[0], s.nodes[1]);
    const json switch_place{{"nodeType", "Switch"},
                            {"nodeGUID", fmt::format("{}", sw.info.nodeGUID)},
                            {"description", "made switch"},
                            {"portGUID", fmt::format("{}", sw.ports[3].portGUID)},
                            {"LID", value(sw.ports[0].info->LID)}, // the LID of the switch
                            {"port", 3}};
    const json host_place{{"nodeType", "CA"},
                          {"nodeGUID", fmt::format("{}", host.info.nodeGUID)},
                          {"description", "made host"},
                          {"portGUID", fmt::format("{}", host.ports[2].portGUID)},
                          {"LID", value(host.ports[2].info->LID)},
                          {"port", 2}};
    CHECK(json(place_json(s, made_switch_port, {})) == switch_place);
    CHECK(json(place_json(s, made_host_port, {})) == host_place);
    const json at_switch =
        merged(abilities(sw.ports[3], sw.ports[0].info->LMC, {"1x", "2x", "12x"}, json::array({"SDR"})),
               {{"portState", "Active"},
                {"portPhysicalState", "LinkUp"},
                {"linkWidthActive", "4x"},
                {"linkSpeedActive", "QDR"}});
    const json at_host = merged(abilities(host.ports[2], host.ports[2].info->LMC, json::array({"4x"}), {"DDR", "QDR"}),
                                {{"portState", "Active"},
                                 {"portPhysicalState", "LinkUp"},
                                 {"linkWidthActive", "8x"},
                                 {"linkSpeedActive", "DDR"}});
    CHECK(json(link_json(s, made_switch_port, {})) == merged(at_switch, {{"linkWidthPossible", "8x"},
                                                                         {"linkWidthOtherEnd", "8x"},
                                                                         {"linkSpeedOtherEnd", "DDR"},
                                                                         {"peer", merged(host_place, at_host)}}));
    // Ports of a switch other than port 0 have no capabilities.
    CHECK(json(link_json(s, made_host_port, {})) ==
          merged(at_host, {{"linkSpeedPossible", "QDR"},
                           {"linkWidthOtherEnd", "4x"},
                           {"linkSpeedOtherEnd", "QDR"},
                           {"capabilityMask", 0x80008002},
                           {"capabilityMask2", 8},
                           {"capabilities",
                            {"IsSM", "IsCapabilityMask2Supported", "IsHierarchyInfoSupported",
                             "IsSwitchPortStateTableSupported"}},
                           {"peer", merged(switch_place, at_switch)}}));
}

TEST_CASE("the JSON of a port lists extended speeds only if they are valid, and FDR10 if the device supports it") {
    discovery::subnet s = test::made_subnet();
    iba::smp::PortInfo &info = *s.nodes[0].ports[3].info, &port0 = *s.nodes[0].ports[0].info;
    info.linkSpeedSupported = info.linkSpeedEnabled = 1;
    info.linkSpeedExtSupported = 1 | 2; // FDR, EDR
    info.linkSpeedExtEnabled = 2;
    info.linkSpeedExtSupported2 = 1; // XDR
    info.linkSpeedExtEnabled2 = 1;
    const auto speeds = [&](const char* member) { return json(link_json(s, made_switch_port, {}))[member]; };
    CHECK(speeds("linkSpeedSupported") == json{"SDR"});
    CHECK(speeds("linkSpeedEnabled") == json{"SDR"});
    port0.capabilityMask |= 1u << 14; // IsExtendedSpeedsSupported
    s.nodes[0].ports[3].fdr10_supported = true;
    CHECK(speeds("linkSpeedSupported") == json{"SDR", "FDR10", "FDR", "EDR", "XDR"});
    CHECK(speeds("linkSpeedEnabled") == json{"SDR", "EDR", "XDR"});
    info.linkSpeedExtEnabled = 30; // extended speeds are disabled
    CHECK(speeds("linkSpeedEnabled") == json{"SDR", "XDR"});
    s.nodes[0].ports[3].assumed = discovery::assumed_state; // read from a topology file
    CHECK(speeds("linkSpeedSupported") == json());
    CHECK(speeds("neighborMTU") == json());
}

TEST_CASE("the text of a link prints the values of its members") {
    const discovery::subnet s = test::made_subnet();
    const auto& p = *s.at(made_host_port).info;
    CHECK(format_link(s, made_host_port, true) ==
          fmt::format("( 8X           5.0 Gbps Active/  LinkUp) (HOQ:{} VL_Stall:{})", p.HOQLife, p.VLStallCount));
    CHECK(p.HOQLife != p.VLStallCount);
    CHECK(format_peer(s, {}, made_switch_port, true) ==
          fmt::format("0x{:016x} {:6}    2[  ] \"made host\" (Could be 8X 5.0 Gbps at the other end)",
                      value(s.at(made_host_port).portGUID), value(p.LID)));
    CHECK_THAT(format_peer(s, {}, made_host_port),
               Catch::EndsWith("    3[  ] \"made switch\" (4X at the other end Could be 10.0 Gbps)"));
}

} // namespace link_json_test
