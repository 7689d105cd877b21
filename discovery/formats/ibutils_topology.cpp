// SPDX-License-Identifier: MIT
// ibutils_topology.cpp - writes a subnet as a topology file of ibutils, with the definitions of its systems (ibdm-topo-file(1),
// ibdm-ibnl-file(1)).
#include "export_words.hpp"
#include <comad/discovery/database/detail/first_word.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/exports.hpp>

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace comad::discovery {
namespace {

/// Returns the type of a node: one system for each kind of node and number of ports.
std::string system_type(const node& n) {
    const std::string_view kind = n.is_switch() ? "SW" : n.info.nodeType == iba::NodeType::Router ? "RT" : "CA";
    return fmt::format("{}{}", kind, n.info.numPorts);
}

/// Returns unique names that ibutils accepts: the name of a switch, the first word of another node, or the ID.
std::vector<std::string> system_names(const subnet& s, const node_names& names) {
    std::vector<std::string> all;
    std::map<std::string, unsigned> uses;
    for (const node& n : s.nodes) {
        const std::string whole = names.of(n);
        const std::string name(n.is_switch() ? whole : first_word(whole));
        all.push_back(is_plain_name(name) ? name : topology_id(n));
        ++uses[all.back()];
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        if (uses[all[i]] > 1) all[i] = topology_id(s.nodes[i]);
    return all;
}

/// Returns `-4x-10G->`. ibutils knows only SDR to QDR and four widths; it ignores lines with other ones.
std::string arrow_of(const subnet& s, port_ref r) {
    const port& p = s.at(r);
    if (!p.info) return "->";
    const iba::LinkWidth width = active_width(*p.info);
    const bool has_width = width == iba::LinkWidth::w1x || width == iba::LinkWidth::w4x ||
                           width == iba::LinkWidth::w8x || width == iba::LinkWidth::w12x;
    std::string_view speed;
    switch (is_fdr10(s, r) ? 0 : active_speed(s, r)) {
    case iba::lane_speed::SDR: speed = "-2.5G"; break;
    case iba::lane_speed::DDR: speed = "-5G"; break;
    case iba::lane_speed::QDR: speed = "-10G"; break;
    default: break;
    }
    return has_width && !speed.empty() ? fmt::format("-{}{}->", iba::width_name(width), speed) : "->";
}

std::string ibnl_of(const node& n) {
    const std::string type = system_type(n);
    std::string text =
        fmt::format("TOPSYSTEM {0}\n\nNODE {1} {2} {0} U1\n", type, n.is_switch() ? "SW" : "CA", n.info.numPorts);
    for (unsigned p = 1; p <= n.info.numPorts; ++p) text += fmt::format("{0} -> P{0}\n", p);
    return text;
}

} // namespace

ibutils_files format_ibutils_topology(const subnet& s, const node_names& names) {
    const std::vector<std::string> system = system_names(s, names);
    ibutils_files made{"# Topology of an InfiniBand subnet, for ibutils\n", {}};
    std::set<std::string> types;
    for (const node& n : s.nodes)
        if (types.insert(system_type(n)).second) made.definitions.push_back({system_type(n) + ".ibnl", ibnl_of(n)});
    std::map<u32, std::string> cables; // lines by node; a switch has the line if there is one at either end
    for (const link_ends& l : links_of(s)) {
        const bool is_turned = !s.nodes[l.from.node].is_switch() && s.nodes[l.to.node].is_switch();
        const port_ref here = is_turned ? l.to : l.from, there = is_turned ? l.from : l.to;
        cables[here.node] +=
            fmt::format("   P{} {} {} {} P{}\n", here.port, arrow_of(s, s.at(here).info ? here : there),
                        system_type(s.nodes[there.node]), system[there.node], there.port);
    }
    for (const auto& [n, lines] : cables)
        made.topology += fmt::format("\n{} {}\n{}", system_type(s.nodes[n]), system[n], lines);
    return made;
}

} // namespace comad::discovery
