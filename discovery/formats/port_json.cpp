// SPDX-License-Identifier: MIT
// port_json.cpp - writes the JSON members of ports, links and nodes that several documents share.
#include <comad/discovery/database/detail/link_sets.hpp>
#include <comad/discovery/formats/detail/port_json.hpp>
#include <comad/iba/detail/json.hpp>
#include <comad/iba/detail/link_words.hpp>

#include <nlohmann/json.hpp>

#include <span>
#include <string_view>

namespace comad::discovery {
namespace {

using json = nlohmann::ordered_json;
using iba::LinkWidth;

json names_of_widths(u8 widths) {
    json names = json::array();
    for (const LinkWidth width : {LinkWidth::w1x, LinkWidth::w2x, LinkWidth::w4x, LinkWidth::w8x, LinkWidth::w12x})
        if (widths & value(width)) names.push_back(iba::width_name(width));
    return names;
}

json names_of_speeds(link_speeds speeds, bool has_fdr10 = false) {
    json names = json::array();
    for (link_speeds speed = iba::lane_speed::SDR; speed <= iba::lane_speed::XDR; speed <<= 1) {
        if (speeds & speed) names.push_back(iba::speed_name(speed));
        if (speed == iba::lane_speed::QDR && has_fdr10) names.push_back(iba::speed_name(iba::lane_speed::FDR10));
    }
    return names;
}

void add_names(json& names, std::span<const iba::enum_name> bits, u64 set) {
    for (const iba::enum_name& bit : bits)
        if (set & bit.value) names.push_back(bit.name);
}

std::string_view name_of(board_kind board) {
    switch (board) {
    case board_kind::none: break;
    case board_kind::line: return "line";
    case board_kind::spine: return "spine";
    case board_kind::router: return "router";
    }
    return {};
}

} // namespace

void add_link_abilities(json& to, const subnet& s, port_ref r) {
    const port& p = s.at(r);
    if (p.assumed) return;
    to["linkWidthSupported"] = names_of_widths(p.info->linkWidthSupported);
    to["linkWidthEnabled"] = names_of_widths(p.info->linkWidthEnabled);
    to["linkSpeedSupported"] = names_of_speeds(supported_speeds(s, r), p.fdr10_supported);
    to["linkSpeedEnabled"] = names_of_speeds(enabled_speeds(s, r));
    to["MTUCap"] = value(p.info->MTUCap);
    to["neighborMTU"] = value(p.info->neighborMTU);
    to["VLCap"] = value(p.info->VLCap);
    to["operationalVLs"] = value(p.info->operationalVLs);
}

void add_link_judgment(json& to, const subnet& s, port_ref r) {
    if (const LinkWidth better = possible_width(s, r); better != LinkWidth{})
        to["linkWidthPossible"] = iba::width_name(better);
    if (const link_speeds better = possible_speed(s, r)) to["linkSpeedPossible"] = iba::speed_name(better);
    else if (could_be_fdr10(s, r)) to["linkSpeedPossible"] = iba::speed_name(iba::lane_speed::FDR10);
    if (const LinkWidth there = other_width(s, r); there != LinkWidth{})
        to["linkWidthOtherEnd"] = iba::width_name(there);
    if (const link_speeds there = other_speed(s, r)) to["linkSpeedOtherEnd"] = iba::speed_name(there);
}

void add_capabilities(json& to, const subnet& s, port_ref r) {
    const port& p = s.at(r);
    if (&s.end_port(r) != &p || p.assumed) return;
    json names = json::array();
    add_names(names, iba::capability_mask_names, p.info->capabilityMask);
    to["capabilityMask"] = p.info->capabilityMask;
    if (p.info->capabilityMask & value(iba::CapabilityMask::IsCapabilityMask2Supported)) {
        to["capabilityMask2"] = p.info->capabilityMask2;
        add_names(names, iba::capability_mask2_names, p.info->capabilityMask2);
    }
    to["capabilities"] = std::move(names);
}

void add_board(json& to, const chassis_place& place) {
    const std::string_view board = name_of(place.board);
    if (board.empty()) return;
    to["board"] = board;
    to["slot"] = place.slot;
    to["chip"] = place.chip;
    to["type"] = iba::detail::json_string(place.type);
}

void add_chassis(json& to, const system_groups& groups, u32 node) {
    if (node >= groups.places.size() || !groups.places[node].is_in_chassis()) return;
    const chassis_place& place = groups.places[node];
    json chassis{{"number", groups.chassis[place.chassis].number}};
    add_board(chassis, place);
    to["chassis"] = std::move(chassis);
}

void add_switch_info(json& to, const node& n) {
    if (!n.switch_info || n.ports[0].assumed) return;
    json info = iba::detail::json_object(*n.switch_info);
    info.erase("portStateChange"); // a notice for the subnet manager, which clears it
    to["switchInfo"] = std::move(info);
}

} // namespace comad::discovery
