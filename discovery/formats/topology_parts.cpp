// SPDX-License-Identifier: MIT
// topology_parts.cpp - prints the lines of the stanzas in topology files.
#include "topology_parts.hpp"

#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/discovery/formats/reports.hpp>

namespace comad::discovery {

const iba::smp::PortInfo& info_of(const port& p) {
    static const iba::smp::PortInfo unknown{};
    return p.info ? *p.info : unknown;
}

void print_node_line(std::string& out, const node& n, const node_names& names, std::string_view prefix) {
    print(out, "{}{}\t{} \"{}\"\t\t# \"{}\"", prefix, names_of_type(n.info.nodeType).record, n.info.numPorts,
          topology_id(n), names.of(n));
    if (n.is_switch())
        print(out, " {} port 0 lid {} lmc {}", n.switch_info && n.switch_info->enhancedPort0 ? "enhanced" : "base",
              lid_of(n.ports[0]), info_of(n.ports[0]).LMC);
    out += '\n';
}

void print_head(std::string& out, const node& n, const node_names& names, const head_notes& notes, std::string_view IDs,
                std::string_view line) {
    print(out, "\n{}vendid=0x{:x}\n{}devid=0x{:x}\n", IDs, n.info.vendorID, IDs, n.info.deviceID);
    if (value(n.info.systemImageGUID)) print(out, "{}sysimgguid=0x{:x}", IDs, value(n.info.systemImageGUID));
    out += notes.system;
    if (value(n.info.systemImageGUID) || !notes.system.empty()) out += '\n';
    print(out, "{}{}guid=0x{:x}", IDs, names_of_type(n.info.nodeType).prefix, value(n.info.nodeGUID));
    if (n.is_switch()) print(out, "({:x}){}", value(n.info.portGUID), notes.board);
    out += '\n';
    print_node_line(out, n, names, line);
    out.insert(out.size() - 1, notes.role);
}

namespace {

void print_rate(std::string& out, const subnet& s, port_ref here, bool full) {
    const port& p = s.at(here);
    print(out, "{}{}", format_link_width(p), format_link_speed(s, here));
    if (full) {
        const auto& info = info_of(p);
        print(out, " s={} w={} v={}", static_cast<unsigned>(info.linkSpeedActive),
              static_cast<unsigned>(info.linkWidthActive), value(info.VLCap));
    }
}

/// `[ext 7]` if a port has an external number.
std::string format_external(const system_groups* groups, port_ref r) {
    const unsigned number = groups ? groups->external_port(r) : 0;
    return number ? fmt::format("[ext {}]", number) : std::string();
}

/// Prints the part of a Xsigo chassis that a switch port leads to: a card in a slot, or the server that manages the chassis.
void print_card(std::string& out, iba::guid there, u8 port) {
    if (is_xsigo_tca(there)) print(out, " slot {}", port);
    else if (is_xsigo_hca(there)) out += " (scp)";
}

} // namespace

void print_port_line(std::string& out, const subnet& s, port_ref here, const node_names& names, bool full,
                     std::string_view prefix, const system_groups* groups) {
    const node& n = s.nodes[here.node];
    const port& p = s.at(here);
    const node& there = s.nodes[p.peer.node];
    const unsigned peer_lid = lid_of(s.end_port(p.peer));
    print(out, "{}[{}]", prefix, here.port);
    if (n.is_switch()) out += format_external(groups, here);
    else print(out, "({:x}) ", value(p.portGUID));
    print(out, "\t\"{}\"[{}]{}", topology_id(there), p.peer.port, format_external(groups, p.peer));
    if (!there.is_switch()) print(out, "{}({:x}) ", n.is_switch() ? "" : " ", value(s.at(p.peer).portGUID));
    if (n.is_switch()) print(out, "\t\t# \"{}\" lid {} ", names.of(there), peer_lid);
    else print(out, "\t\t# lid {} lmc {} \"{}\" lid {} ", lid_of(p), info_of(p).LMC, names.of(there), peer_lid);
    print_rate(out, s, here, full);
    if (n.is_switch()) print_card(out, s.at(p.peer).portGUID, here.port);
    out += '\n';
}

} // namespace comad::discovery
