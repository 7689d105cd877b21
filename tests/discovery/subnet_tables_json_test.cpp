// SPDX-License-Identifier: MIT
// subnet_tables_json_test.cpp - the tables of ports as JSON, with bits that were set by hand.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <nlohmann/json.hpp>

namespace subnet_tables_json_test {

using namespace comad;
using namespace comad::test;
using nlohmann::json;

TEST_CASE("P_Keys, SL to VL tables and VL arbitration appear at their ports only if they were read") {
    const discovery::subnet s = made_subnet();
    discovery::subnet_tables facts;
    iba::smp::PKeyTable first, second;
    first.PKeyBlock[0] = 0xffff;
    first.PKeyBlock[31] = 0x8000; // not a key: only the bit of full members
    second.PKeyBlock[1] = 0x0123;
    facts.PKeys.values = {{{made_host_port, 0}, first}, {{made_host_port, 1}, second}};
    iba::smp::SLToVLMappingTable from_1, from_3;
    from_1.SLtoVL[15] = 7;
    from_3.SLtoVL.fill(15);
    facts.SLToVL.values = {{{made_switch_port, 1 << 8 | 3}, from_1},
                           {{made_switch_port, 3 << 8 | 3}, from_3},
                           {{made_host_port, 0}, from_1}};
    iba::smp::VLArbitrationTable low, more_low, high;
    low.VLWeightBlock[0] = 0x0e40; // VL 14, weight 64
    low.VLWeightBlock[1] = 0x0300; // weight 0: no entry
    more_low.VLWeightBlock[31] = 0x01ff;
    high.VLWeightBlock[0] = 0x0001;
    facts.VLArbitration.values = {{{made_switch_port, 1 << 16 | 3}, low},
                                  {{made_switch_port, 2 << 16 | 3}, more_low},
                                  {{made_switch_port, 3 << 16 | 3}, high}};

    const json all = json::parse(json_text(s, {.facts = &facts}));
    const auto at = [&](discovery::port_ref r) {
        for (const json& port : all["nodes"][r.node]["ports"])
            if (port["port"] == r.port) return port;
        return json();
    };
    std::vector<unsigned> from_1_reported(16), from_3_reported(16, 15);
    from_1_reported[15] = 7;
    const json host = at(made_host_port), sw = at(made_switch_port), router = at(made_router_port);
    CHECK(host["PKeys"] == json({0xffff, 0x0123}));
    CHECK(host["SLtoVL"] == json::array({{{"VLs", from_1_reported}}}));
    CHECK_FALSE(host.contains("VLArbitration"));
    CHECK_FALSE(sw.contains("PKeys"));
    CHECK(sw["SLtoVL"] ==
          json::array({{{"inputPort", 1}, {"VLs", from_1_reported}}, {{"inputPort", 3}, {"VLs", from_3_reported}}}));
    CHECK(sw["VLArbitration"] ==
          json({{"low", json::array({{{"VL", 14}, {"weight", 64}}, {{"VL", 1}, {"weight", 255}}})},
                {"high", json::array({{{"VL", 0}, {"weight", 1}}})}}));
    for (const char* name : {"PKeys", "SLtoVL", "VLArbitration"}) CHECK_FALSE(router.contains(name));
    CHECK_THAT(json_text(s), !Catch::Contains("PKeys"));
}

} // namespace subnet_tables_json_test
