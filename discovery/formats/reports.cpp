// SPDX-License-Identifier: MIT
// reports.cpp - writes the reports of ibnetdiscover and its wrappers.
#include "topology_parts.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <bit>
#include <iterator>

namespace comad::discovery {
namespace {

using iba::NodeType;

void print_stanza(std::string& out, const subnet& s, u32 index, const node_names& names, bool full,
                  const head_notes& notes = {}, const system_groups* groups = nullptr) {
    print_head(out, s.nodes[index], names, notes);
    if (s.nodes[index].known != topology_file::extent::all) print(out, "{}\n", topology_file::lacks_ports_remark);
    for (unsigned number = 1; number < s.nodes[index].ports.size(); ++number) {
        const port_ref here{index, static_cast<u8>(number)};
        if (s.at(here).peer) print_port_line(out, s, here, names, full, {}, groups);
    }
}

/// Prints a topology grouped by systems, and then the nodes that belong to no system.
class grouped_topology {
public:
    grouped_topology(std::string& out, const subnet& s, const node_names& names, bool full)
        : out_(out), s_(s), names_(names), full_(full) {}

    void print_all() {
        for (const chassis& c : groups_.chassis) print_chassis(c);
        out_ += "\nNon-Chassis Nodes\n";
        for (const NodeType type : {NodeType::Switch, NodeType::CA, NodeType::Router}) {
            for_each(s_, type, [&](u32 i, const node&) {
                if (!groups_.places[i].is_in_chassis()) print_node(i, {});
            });
        }
    }

private:
    void print_chassis(const chassis& c) {
        print(out_, "\nChassis {}", c.number);
        if (value(c.GUID)) print(out_, " (guid 0x{:x})", value(c.GUID));
        out_ += '\n';
        const std::string host = host_of(c);
        out_ += "\n# Spine Nodes";
        for (const u32 i : c.spines) print_node(i, host);
        out_ += "\n# Line Nodes";
        for (const u32 i : c.lines) print_node(i, host);
        out_ += "\n# Chassis Switches";
        for (const u32 i : c.others)
            if (s_.nodes[i].is_switch()) print_node(i, host);
        out_ += "\n# Chassis CAs";
        for (const u32 i : c.others)
            if (!s_.nodes[i].is_switch()) print_node(i, host);
    }

    /// Prints the lines of a Xsigo chassis' servers. Returns the name of the last server.
    std::string host_of(const chassis& c) {
        std::string host;
        if (!is_xsigo(c.GUID)) return host;
        for (const u32 i : c.others) {
            if (!is_xsigo_hca(s_.nodes[i].info.nodeGUID)) continue;
            host = names_.of(s_.nodes[i]);
            print(out_, "Hostname: {}\n", host);
        }
        return host;
    }

    void print_node(u32 i, const std::string& host) {
        if (s_.nodes[i].known == topology_file::extent::links_only) return; // it has no stanza
        print_stanza(out_, s_, i, names_, full_, notes_of(i, host), &groups_);
    }

    head_notes notes_of(u32 i, const std::string& host) const {
        const node& n = s_.nodes[i];
        const chassis_place& place = groups_.places[i];
        head_notes notes;
        if (place.is_in_chassis()) {
            print(notes.system, "\t\t# Chassis {}", groups_.chassis[place.chassis].number);
            if (!host.empty()) print(notes.system, " ({})", host);
            const bool is_card = is_xsigo_tca(n.info.nodeGUID) && n.ports.size() > 1 && n.ports[1].peer;
            if (is_card) print(notes.system, " slot {}", n.ports[1].peer.port);
        }
        notes.board = "\t# ";
        if (const std::string slot = format_slot(place); !slot.empty()) {
            if (!place.type.empty()) print(notes.board, "{} ", iba::escaped(place.type));
            notes.board += slot;
        }
        if (!n.is_switch() && is_xsigo_hca(n.info.nodeGUID)) notes.role = " (scp)";
        return notes;
    }

    std::string& out_;
    const subnet& s_;
    const node_names& names_;
    const bool full_;
    const system_groups groups_ = group_nodes(s_);
};

} // namespace

std::string_view format_link_width(const port& p) { return width_name(active_width(info_of(p))); }

std::string_view format_link_speed(const subnet& s, port_ref here) {
    if (!s.at(here).info || !s.end_port(here).info) return speed_name(0);
    return is_fdr10(s, here) ? "FDR10" : speed_name(active_speed(s, here));
}

std::string format_topology(const subnet& s, const node_names& names, const topology_options& options) {
    std::string out;
    print(out, "#\n# Topology file: generated on {}\n#\n", options.generated_on);
    if (options.mads_used) {
        print(out, "# Reported max hops discovered: {}\n# Total MADs used: {}\n", s.max_hops(), *options.mads_used);
    }
    if (!s.nodes.empty()) {
        print(out, "# Initiated from node {:016x} port {:016x}\n", value(s.nodes[0].info.nodeGUID),
              value(s.nodes[0].info.portGUID));
    }
    if (s.may_lack_nodes) print(out, "{}\n", topology_file::lacks_nodes_remark);
    if (options.grouping) {
        grouped_topology(out, s, names, options.full).print_all();
        return out;
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
        const std::string_view called = names_of_type(type).list;
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
            if (!p.info && !p.peer) continue; // a port of a CA that does not lead to the local port
            print(out, "{:>2} {:5} {:2} 0x{:016x} {} {}", names_of_type(n.info.nodeType).two_letter,
                  lid_of(s.end_port(here)), number, value(p.portGUID), format_link_width(p),
                  format_link_speed(s, here));
            if (!p.peer) {
                print(out, "{:36}'{}'\n", "", names.of(n));
                continue;
            }
            const node& there = s.nodes[p.peer.node];
            print(out, " - {:>2} {:5} {:2} 0x{:016x} ( '{}' - '{}' )\n", names_of_type(there.info.nodeType).two_letter,
                  lid_of(s.end_port(p.peer)), p.peer.port, value(s.at(p.peer).portGUID), names.of(n), names.of(there));
        }
    }
    return out;
}

namespace {

std::string lines_of(const subnet& s, const node_names& names, NodeType type) {
    std::string out;
    for_each(s, type, [&](u32, const node& n) {
        print(out, "{}\t: 0x{:016x} ports {} \"{}\"\n", names_of_type(type).record, value(n.info.nodeGUID),
              n.info.numPorts, names.of(n));
    });
    return out;
}

} // namespace

std::string format_hosts(const subnet& s, const node_names& names) { return lines_of(s, names, NodeType::CA); }
std::string format_routers(const subnet& s, const node_names& names) { return lines_of(s, names, NodeType::Router); }

std::string format_switches(const subnet& s, const node_names& names) {
    std::string out;
    for_each(s, NodeType::Switch, [&](u32, const node& n) {
        print(out, "Switch\t: 0x{:016x} ports {} \"{}\" {} port 0 lid {} lmc {}\n", value(n.info.nodeGUID),
              n.info.numPorts, names.of(n), n.switch_info && n.switch_info->enhancedPort0 ? "enhanced" : "base",
              lid_of(n.ports[0]), info_of(n.ports[0]).LMC);
    });
    return out;
}

} // namespace comad::discovery
