// SPDX-License-Identifier: MIT
// json.cpp - writes a subnet as JSON. Keys are IBA names, values are those of the structures.
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/chassis/detail/hierarchy.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/formats/detail/port_json.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/json.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace comad::discovery {
namespace {

using json = nlohmann::ordered_json;
using iba::detail::add_json_list;
using iba::detail::json_string;

std::string text_of(iba::guid g) { return fmt::format("{}", g); }

json hops_of(const mad::IBDRPath& route) {
    json hops = json::array({0});
    for (u8 port : route.hops()) hops.push_back(port);
    return hops;
}

json of_hierarchy(const port_hierarchy& h) {
    json levels = json::array();
    for (std::size_t i = 0; i < h.info.activeLevels && i < h.info.levelData.size(); ++i)
        levels.push_back(h.info.levelData[i]);
    return {{"index", h.index}, {"templateGUID", text_of(h.info.templateGUID)}, {"levelData", std::move(levels)}};
}

// ---- tables of ports ------------------------------------------------------------------------------------------------

/// Calls a function for each block of a port, in order.
template <class T, class F> void for_each_block(const block_table<T>& table, port_ref here, F&& f) {
    for (auto at = table.values.lower_bound({here, 0}); at != table.values.end() && at->first.where == here; ++at)
        f(at->first.modifier, at->second);
}

json pkeys_of(const subnet_tables& facts, port_ref here) {
    json keys = json::array();
    for_each_block(facts.PKeys, here, [&](u32, const iba::smp::PKeyTable& block) {
        for (const u16 PKey : block.PKeyBlock)
            if ((PKey & 0x7fff) != 0) keys.push_back(PKey);
    });
    return keys;
}

json sltovl_of(const subnet& s, const subnet_tables& facts, port_ref here) {
    json tables = json::array();
    for_each_block(facts.SLToVL, here, [&](u32 modifier, const iba::smp::SLToVLMappingTable& table) {
        json one = json::object();
        if (s.nodes[here.node].is_switch()) one["inputPort"] = modifier >> 8;
        one["VLs"] = table.SLtoVL;
        tables.push_back(std::move(one));
    });
    return tables;
}

json VLArbitration_of(const subnet_tables& facts, port_ref here) {
    json tables{{"low", json::array()}, {"high", json::array()}};
    for_each_block(facts.VLArbitration, here, [&](u32 modifier, const iba::smp::VLArbitrationTable& block) {
        constexpr u32 first_of_high = 3; // IBA 14.2.5.9
        json& list = tables[modifier >> 16 < first_of_high ? "low" : "high"];
        for (const u16 entry : block.VLWeightBlock)
            if (const unsigned weight = entry & 0xff) list.push_back({{"VL", entry >> 8 & 0xf}, {"weight", weight}});
    });
    return tables;
}

void add_facts(json& out, const subnet& s, const subnet_tables& facts, port_ref here) {
    const auto has = [&](const auto& table) {
        const auto at = table.values.lower_bound({here, 0});
        return at != table.values.end() && at->first.where == here;
    };
    if (has(facts.PKeys)) out["PKeys"] = pkeys_of(facts, here);
    if (has(facts.SLToVL)) out["SLtoVL"] = sltovl_of(s, facts, here);
    if (has(facts.VLArbitration)) out["VLArbitration"] = VLArbitration_of(facts, here);
}

/// Additional data of nodes: the system, and the position in it.
struct node_places {
    const system_groups& groups;
    const more_of_ports& more;
};

json of_port(const subnet& s, port_ref here, const node_places& places) {
    const port& p = s.at(here);
    json out{{"port", here.port}};
    if (const u8 outside = places.groups.external_port(here)) out["external_port"] = outside;
    if (value(p.portGUID)) out["portGUID"] = text_of(p.portGUID);
    if (p.info) {
        out["portState"] = iba::name_or_number(p.info->portState);
        out["portPhysicalState"] = iba::name_or_number(p.info->portPhysicalState);
        out["linkWidthActive"] = format_link_width(p);
        out["linkSpeedActive"] = format_link_speed(s, here);
        if (&s.end_port(here) == &p) {
            out["LID"] = value(p.info->LID);
            out["LMC"] = p.info->LMC;
        }
        if (p.assumed && value(p.info->VLCap)) out["VLCap"] = value(p.info->VLCap); // some topology files contain it
        add_link_abilities(out, s, here);
        add_link_judgment(out, s, here);
        add_capabilities(out, s, here);
    }
    if (const auto all = places.more.places ? places.more.places->of(here) : std::span<const port_hierarchy>{};
        !all.empty()) {
        json list = json::array();
        for (const port_hierarchy& h : all) list.push_back(of_hierarchy(h));
        out["hierarchies"] = std::move(list);
    }
    if (p.peer) {
        out["peer"] = {{"nodeGUID", text_of(s.nodes[p.peer.node].info.nodeGUID)}, {"port", p.peer.port}};
    }
    if (places.more.facts) add_facts(out, s, *places.more.facts, here);
    return out;
}

json of_node(const subnet& s, u32 index, const node_places& places) {
    const node& n = s.nodes[index];
    json out{
        {"nodeType", iba::name_or_number(n.info.nodeType)},
        {"nodeGUID", text_of(n.info.nodeGUID)},
        {"systemImageGUID", text_of(n.info.systemImageGUID)},
        {"vendorID", n.info.vendorID},
        {"deviceID", n.info.deviceID},
        {"revision", n.info.revision},
        {"numPorts", n.info.numPorts},
        {"description", json_string(n.description)},
        {"route", hops_of(n.route)},
    };
    if (n.known == topology_file::extent::some) out["known"] = "some";
    if (n.known == topology_file::extent::links_only) out["known"] = "links_only";
    if (n.switch_info) out["enhancedPort0"] = static_cast<bool>(n.switch_info->enhancedPort0);
    add_switch_info(out, n);
    add_chassis(out, places.groups, index);
    json ports = json::array();
    for (u8 number = 0; const port& p : n.ports) {
        if (p.info || p.peer) ports.push_back(of_port(s, {index, number}, places));
        ++number;
    }
    out["ports"] = std::move(ports);
    return out;
}

json of_chassis(const subnet& s, const system_groups& groups, const chassis& c) {
    json out{{"number", c.number}};
    if (value(c.GUID)) out["GUID"] = text_of(c.GUID);
    json nodes = json::array();
    for (const auto* part : {&c.spines, &c.lines, &c.others}) {
        for (const u32 i : *part) {
            const chassis_place& place = groups.places[i];
            json one{{"nodeGUID", text_of(s.nodes[i].info.nodeGUID)}};
            add_board(one, place);
            nodes.push_back(std::move(one));
        }
    }
    out["nodes"] = std::move(nodes);
    return out;
}

json of_failure(const failure& p) {
    json entry{{"kind", name_of(p.kind)}};
    if (value(p.where.nodeGUID)) entry["nodeGUID"] = text_of(p.where.nodeGUID);
    if (p.where.port) entry["port"] = p.where.port;
    entry["route"] = hops_of(p.where.route);
    entry["text"] = json_string(p.text);
    return entry;
}

json of_doubled_lid(const subnet& s, const lid_index::shared& doubled) {
    json entry{{"kind", "duplicate_LID"}, {"LID", value(doubled.LID)}, {"locations", json::array()}};
    for (const port_ref at : {doubled.first, doubled.second})
        entry["locations"].push_back({{"nodeGUID", text_of(s.nodes[at.node].info.nodeGUID)}, {"port", at.port}});
    return entry;
}

} // namespace

std::string json_text(const subnet& s, const more_of_ports& more) {
    json head{{"schema", "comad.subnet/1"}, {"complete", s.complete()}};
    if (s.may_lack_nodes) head["may_lack_nodes"] = true;
    if (!s.nodes.empty()) {
        head["start"] = {{"nodeGUID", text_of(s.nodes[0].info.nodeGUID)}, {"port", s.start_port}};
    }
    head["counts"] = {{"switches", s.count(iba::NodeType::Switch)},
                      {"CAs", s.count(iba::NodeType::CA)},
                      {"routers", s.count(iba::NodeType::Router)},
                      {"links", s.link_count()}};
    std::string out = iba::detail::json_document(head);
    const system_groups groups = group_nodes(s);
    add_json_list(out, "nodes", s.nodes.size(), [&](std::size_t i) {
        return of_node(s, static_cast<u32>(i), {groups, more});
    });
    add_json_list(out, "chassis", groups.chassis.size(),
                  [&](std::size_t i) { return of_chassis(s, groups, groups.chassis[i]); });
    add_json_list(out, "problems", s.failures.size(), [&](std::size_t i) { return of_failure(s.failures[i]); });
    const lid_index lids(s);
    if (const auto& doubled = lids.duplicates(); !doubled.empty())
        add_json_list(out, "findings", doubled.size(), [&](std::size_t i) { return of_doubled_lid(s, doubled[i]); });
    return out;
}

std::string node_json(const subnet& s, u32 index) {
    const system_groups no_groups;
    return iba::detail::json_line(of_node(s, index, {no_groups, {}}));
}

} // namespace comad::discovery
