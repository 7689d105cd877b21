// SPDX-License-Identifier: MIT
// reports.cpp - the text forms of a subnet.
#include "topology_parts.hpp"
#include <comad/discovery/link.hpp>
#include <comad/discovery/node_words.hpp>
#include <comad/discovery/reports.hpp>

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace comad::discovery {
namespace {

using iba::NodeType;

void print_stanza(std::string& out, const subnet& s, u32 index, const node_names& names, bool full) {
    print_head(out, s.nodes[index], names);
    for (unsigned number = 1; number < s.nodes[index].ports.size(); ++number) {
        const port_ref here{index, static_cast<u8>(number)};
        if (s.at(here).peer) print_port_line(out, s, here, names, full);
    }
}

} // namespace

std::string_view link_width_text(const port& p) {
    switch (static_cast<u8>(active_width(info_of(p)))) {
    case 1: return "1x";
    case 2: return "4x";
    case 4: return "8x";
    case 8: return "12x";
    case 16: return "2x";
    default: return "??";
    }
}

std::string_view link_speed_text(const subnet& s, port_ref here) {
    if (!s.at(here).info || !s.end_port(here).info) return "???";
    if (is_FDR10(s, here)) return "FDR10";
    // The names of single bits, from the lowest.
    static constexpr std::string_view names[] = {"SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR"};
    const link_speeds active = active_speed(s, here);
    const auto bit = static_cast<unsigned>(std::countr_zero(active));
    return std::has_single_bit(active) && bit < std::size(names) ? names[bit] : "???";
}

std::string topology_text(const subnet& s, const node_names& names, const topology_options& options) {
    std::string out;
    print(out, "#\n# Topology file: generated on {}\n#\n", options.generated_on);
    if (options.mads_used) {
        print(out, "# Reported max hops discovered: {}\n# Total MADs used: {}\n", s.max_hops(), *options.mads_used);
    }
    if (!s.nodes.empty()) {
        print(out, "# Initiated from node {:016x} port {:016x}\n", value(s.nodes[0].info.nodeGUID),
              value(s.nodes[0].info.portGUID));
    }
    for (const NodeType type : {NodeType::Switch, NodeType::CA, NodeType::Router})
        for_each(s, type, [&](u32 i, const node&) { print_stanza(out, s, i, names, options.full); });
    return out;
}

std::string node_stanza(const subnet& s, u32 index, const node_names& names) {
    std::string out;
    print_stanza(out, s, index, names, false);
    return out.substr(1);
}

std::string node_list(const subnet& s, const node_names& names, std::initializer_list<NodeType> types) {
    std::string out;
    for (NodeType type : types) {
        const std::string_view called = words_of(type).list;
        for_each(s, type, [&](u32, const node& n) {
            print(out, "{}\t : 0x{:016x} ports {} devid 0x{:x} vendid 0x{:x} \"{}\"\n", called, value(n.info.nodeGUID),
                  n.info.numPorts, n.info.deviceID, n.info.vendorID, names.of(n));
        });
    }
    return out;
}

std::string ports_report(const subnet& s, const node_names& names) {
    std::string out;
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        for (auto number = static_cast<unsigned>(n.ports.size()); number-- > 1;) {
            const port_ref here{i, static_cast<u8>(number)};
            const port& p = s.at(here);
            if (!p.info && !p.peer) continue; // of a CA, a port that does not lead to us
            print(out, "{:>2} {:5} {:2} 0x{:016x} {} {}", words_of(n.info.nodeType).two_letter,
                  lid_of(s.end_port(here)), number, value(p.portGUID), link_width_text(p), link_speed_text(s, here));
            if (!p.peer) {
                print(out, "{:36}'{}'\n", "", names.of(n));
                continue;
            }
            const node& there = s.nodes[p.peer.node];
            print(out, " - {:>2} {:5} {:2} 0x{:016x} ( '{}' - '{}' )\n", words_of(there.info.nodeType).two_letter,
                  lid_of(s.end_port(p.peer)), p.peer.port, value(s.at(p.peer).portGUID), names.of(n), names.of(there));
        }
    }
    return out;
}

namespace {

std::string lines_of(const subnet& s, const node_names& names, NodeType type) {
    std::string out;
    for_each(s, type, [&](u32, const node& n) {
        print(out, "{}\t: 0x{:016x} ports {} \"{}\"\n", words_of(type).record, value(n.info.nodeGUID), n.info.numPorts,
              names.of(n));
    });
    return out;
}

} // namespace

std::string hosts_text(const subnet& s, const node_names& names) { return lines_of(s, names, NodeType::CA); }
std::string routers_text(const subnet& s, const node_names& names) { return lines_of(s, names, NodeType::Router); }

std::string switches_text(const subnet& s, const node_names& names) {
    std::string out;
    for_each(s, NodeType::Switch, [&](u32, const node& n) {
        print(out, "Switch\t: 0x{:016x} ports {} \"{}\" {} port 0 lid {} lmc {}\n", value(n.info.nodeGUID),
              n.info.numPorts, names.of(n), n.switch_info && n.switch_info->enhancedPort0 ? "enhanced" : "base",
              lid_of(n.ports[0]), info_of(n.ports[0]).LMC);
    });
    return out;
}

} // namespace comad::discovery
