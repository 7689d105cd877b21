// SPDX-License-Identifier: MIT
// local_ports.cpp - formats devices and ports of sysfs as text and as JSON.
#include "text/local_ports.hpp"

#include "text/json.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ibtool {

using comad::iba::PortPhysicalState;
using comad::iba::PortState;
using nlohmann::ordered_json;

std::string format_state(PortState state) {
    switch (state) {
    case PortState::Down: return "Down";
    case PortState::Initialize: return "Initializing";
    case PortState::Armed: return "Armed";
    case PortState::Active: return "Active";
    default: return "???";
    }
}

std::string format_physical_state(PortPhysicalState state) {
    if (state == PortPhysicalState::NoChange) return "No state change";
    return comad::iba::name_or_number(state);
}

namespace {

ordered_json json_of(const comad::transports::end_port& p) {
    ordered_json out;
    out["port"] = p.port;
    out["umad"] = p.umad;
    out["linkLayer"] = p.link_layer;
    out["portGUID"] = fmt::format("{}", p.portGUID);
    out["portState"] = comad::iba::name_or_number(p.portState);
    out["portPhysicalState"] = comad::iba::name_or_number(p.portPhysicalState);
    out["LID"] = value(p.LID);
    out["LMC"] = p.LMC;
    out["masterSMLID"] = value(p.masterSMLID);
    out["masterSMSL"] = p.masterSMSL;
    out["capabilityMask"] = p.capabilityMask;
    out["rate"] = p.rate;
    out["GIDs"] = ordered_json::array();
    for (const auto& gid : p.gids) out["GIDs"].push_back(fmt::format("{}", gid));
    out["PKeys"] = p.PKeys;
    return out;
}

} // namespace

std::string devices_json(const std::vector<comad::transports::device>& devices) {
    ordered_json out{{"schema", "comad.devices/1"}};
    out["devices"] = ordered_json::array();
    for (const auto& d : devices) {
        ordered_json one;
        one["name"] = d.name;
        one["nodeType"] = comad::iba::name_or_number(d.nodeType);
        one["nodeGUID"] = fmt::format("{}", d.nodeGUID);
        one["systemImageGUID"] = fmt::format("{}", d.systemImageGUID);
        one["description"] = json_string(d.node_desc);
        one["fw_ver"] = d.fw_ver;
        one["hw_ver"] = d.hw_ver;
        one["board_id"] = d.board_id;
        one["hca_type"] = d.hca_type;
        one["ports"] = ordered_json::array();
        for (const auto& p : d.end_ports) one["ports"].push_back(json_of(p));
        out["devices"].push_back(std::move(one));
    }
    return json_line(out);
}

} // namespace ibtool
