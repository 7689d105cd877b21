// SPDX-License-Identifier: MIT
// local_ports_test.cpp - local devices as JSON: each member has its own value, and states have the names of
// infiniband-diags.
#include "support/catch.hpp"
#include "text/local_ports.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace local_ports_test {

using namespace comad;
using namespace ibtool;

TEST_CASE("each member of a device and its ports has the right value") {
    transports::device d;
    d.name = "dev_0";
    d.nodeType = iba::NodeType::Router;
    d.nodeGUID = iba::guid{0x11};
    d.systemImageGUID = iba::guid{0x12};
    d.node_desc = "described";
    d.fw_ver = "firmware";
    d.hw_ver = "hardware";
    d.board_id = "board";
    d.hca_type = "type";
    transports::end_port p;
    p.device = "not told here";
    p.port = 2;
    p.umad = "umad7";
    p.link_layer = "Ethernet";
    p.nodeType = iba::NodeType::CA;
    p.nodeGUID = iba::guid{0x13};
    p.portGUID = iba::guid{0x14};
    p.GIDPrefix = 0x15;
    p.portState = iba::PortState::Armed;
    p.portPhysicalState = iba::PortPhysicalState::LinkErrorRecovery;
    p.LID = iba::lid{0x16};
    p.LMC = 3;
    p.masterSMLID = iba::lid{0x17};
    p.masterSMSL = 4;
    p.capabilityMask = 0x18;
    p.rate = "100 Gb/sec";
    p.gids = {iba::gid(0x19, iba::guid{0x1a}), iba::gid(0x1b, iba::guid{0x1c})};
    p.PKeys = {0x1d, 0x1e};
    d.end_ports = {p};
    CHECK(nlohmann::json::parse(devices_json({d})) ==
          nlohmann::json::parse(R"({"schema": "comad.devices/1", "devices": [{
        "name": "dev_0", "nodeType": "Router", "nodeGUID": "0000:0000:0000:0011", "systemImageGUID": "0000:0000:0000:0012",
        "description": "described", "fw_ver": "firmware", "hw_ver": "hardware", "board_id": "board", "hca_type": "type",
        "ports": [{"port": 2, "umad": "umad7", "linkLayer": "Ethernet", "portGUID": "0000:0000:0000:0014",
                   "portState": "Armed", "portPhysicalState": "LinkErrorRecovery", "LID": 22, "LMC": 3, "masterSMLID": 23,
                   "masterSMSL": 4, "capabilityMask": 24, "rate": "100 Gb/sec",
                   "GIDs": ["::19:0:0:0:1a", "::1b:0:0:0:1c"], "PKeys": [29, 30]}]}]})"));
}

TEST_CASE("JSON keeps the bytes of local descriptions and board names") {
    transports::device d;
    d.node_desc = "h\xff\x1b";
    d.board_id = "\xfe";
    const std::string text = devices_json({d});
    CHECK(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    const auto one = nlohmann::json::parse(text)["devices"][0];
    CHECK(one["description"] == "h\u00ff\x1b");
    CHECK(one["board_id"] == "\u00fe");
}

TEST_CASE("port states are printed as ibstat prints them") {
    // The names are from infiniband-diags' ibstat.c.
    const char* const states[] = {"???", "Down", "Initializing", "Armed", "Active", "???"};
    const char* const physical[] = {"No state change",           "Sleep",  "Polling",           "Disabled",
                                    "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest"};
    for (u8 i = 0; i < std::size(states); ++i) CHECK(format_state(iba::PortState{i}) == states[i]);
    for (u8 i = 0; i < std::size(physical); ++i) CHECK(format_physical_state(iba::PortPhysicalState{i}) == physical[i]);
}

} // namespace local_ports_test
