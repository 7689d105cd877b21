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

TEST_CASE("the JSON of a port and its link has each member from the right field and end") {
    const discovery::subnet s = test::made_subnet();
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
    CHECK(json(link_json(s, made_switch_port, {})) == json{{"portState", "Active"},
                                                           {"portPhysicalState", "LinkUp"},
                                                           {"linkWidthActive", "4x"},
                                                           {"linkSpeedActive", "QDR"},
                                                           {"HOQLife", sw.ports[3].info->HOQLife},
                                                           {"VLStallCount", sw.ports[3].info->VLStallCount},
                                                           {"linkWidthPossible", "8x"},
                                                           {"linkWidthOtherEnd", "8x"},
                                                           {"linkSpeedOtherEnd", "DDR"},
                                                           {"peer", host_place}});
    CHECK(json(link_json(s, made_host_port, {})) == json{{"portState", "Active"},
                                                         {"portPhysicalState", "LinkUp"},
                                                         {"linkWidthActive", "8x"},
                                                         {"linkSpeedActive", "DDR"},
                                                         {"HOQLife", host.ports[2].info->HOQLife},
                                                         {"VLStallCount", host.ports[2].info->VLStallCount},
                                                         {"linkSpeedPossible", "QDR"},
                                                         {"linkWidthOtherEnd", "4x"},
                                                         {"linkSpeedOtherEnd", "QDR"},
                                                         {"peer", switch_place}});
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
