// SPDX-License-Identifier: MIT
// node_list.cpp - prints one line for each node of the requested types.
#include "commands/subnet/node_list.hpp"

#include "comad.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/selection.hpp"
#include "text/csv_table.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/formats/detail/port_json.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace ibtool {
namespace {

using comad::discovery::node_names;
using comad::discovery::subnet;

using iba::NodeType;

/// The command line of a command that lists nodes.
struct node_list_settings {
    std::string topology_file, name_map;
    node_list list;
    selection_options selected;
    bool json = false, csv = false;
};

/// Returns the end ports of a node whose PortInfo is known: port 0 of a switch, or the ports of another node.
nlohmann::ordered_json end_ports_json(const subnet& s, u32 index) {
    auto ports = nlohmann::ordered_json::array();
    const comad::discovery::node& n = s.nodes[index];
    for (unsigned number = 0; number < n.ports.size(); ++number) {
        const comad::discovery::port& p = n.ports[number];
        if (!comad::discovery::is_end_port(n, number) || !p.info) continue;
        const comad::discovery::port_ref here{index, static_cast<u8>(number)};
        nlohmann::ordered_json port{{"port", number}, {"portGUID", fmt::format("{}", p.portGUID)}};
        port["LID"] = value(p.info->LID);
        port["LMC"] = p.info->LMC;
        port["portState"] = iba::name_or_number(p.info->portState);
        comad::discovery::add_capabilities(port, s, here);
        ports.push_back(std::move(port));
    }
    return ports;
}

nlohmann::ordered_json listed_node_json(const subnet& s, u32 index, const node_names& names,
                                        const comad::discovery::system_groups& groups) {
    const comad::discovery::node& n = s.nodes[index];
    nlohmann::ordered_json line{{"nodeType", iba::name_or_number(n.info.nodeType)},
                                {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
                                {"numPorts", n.info.numPorts},
                                {"description", json_string(names.raw(n))}};
    if (n.is_switch() && n.ports[0].info) {
        line["enhancedPort0"] = n.switch_info && n.switch_info->enhancedPort0;
        line["LID"] = value(n.ports[0].info->LID);
        line["LMC"] = n.ports[0].info->LMC;
    }
    line["systemImageGUID"] = fmt::format("{}", n.info.systemImageGUID);
    line["vendorID"] = n.info.vendorID;
    line["deviceID"] = n.info.deviceID;
    line["revision"] = n.info.revision;
    line["end_ports"] = end_ports_json(s, index);
    comad::discovery::add_switch_info(line, n);
    comad::discovery::add_chassis(line, groups, index);
    return line;
}

/// Returns the row of --csv: the columns about end ports have a value for each of them, separated by spaces.
nlohmann::ordered_json csv_row(nlohmann::ordered_json node) {
    for (const char* member : {"LID", "LMC", "portGUID"}) {
        auto values = nlohmann::ordered_json::array();
        for (const auto& port : node["end_ports"]) values.push_back(port[member]);
        node[member] = std::move(values);
    }
    return node;
}

std::string list_of_nodes(const node_list_settings& s, const subnet& found, const node_names& names) {
    if (!s.json && !s.csv) return s.list.text(found, names);
    const comad::discovery::system_groups groups = comad::discovery::group_nodes(found);
    std::string lines;
    csv_table table({"nodeType", "nodeGUID", "numPorts", "description", "enhancedPort0", "LID", "LMC", "portGUID"});
    for (const NodeType type : s.list.types)
        for (u32 n = 0; n < found.nodes.size(); ++n) {
            const comad::discovery::node& node = found.nodes[n];
            if (node.info.nodeType != type || node.known == comad::topology_file::extent::links_only) continue;
            if (s.csv) table.add(csv_row(listed_node_json(found, n, names, groups)));
            else lines += json_line(listed_node_json(found, n, names, groups));
        }
    return s.csv ? table.text() : lines;
}

/// Returns the list of the selected nodes.
report report_of_nodes(const node_list_settings& s, const subnet_selection& selected, const subnet& found,
                       const node_names& names) {
    report made;
    const subnet part = reduced(found, selected, names, &made.notes);
    const auto is_listed = [&](const discovery::node& n) {
        return std::ranges::find(s.list.types, n.info.nodeType) != s.list.types.end() && selected.wants(n, names);
    };
    if (!selected.is_all() && std::ranges::none_of(found.nodes, is_listed)) refuse_empty_selection(made.notes);
    made.text = list_of_nodes(s, part, names);
    return made;
}

int run_node_list(const node_list_settings& s, const global_options& options) {
    const node_names names = read_node_names(s.name_map);
    const subnet_selection selected(s.selected);
    const auto make = [&](const subnet& found, u64) { return report_of_nodes(s, selected, found, names); };
    if (s.topology_file.empty()) return run_on_subnet(options, subnet_printer{.make = make});
    return finish(make(read_subnet(s.topology_file, options), 0), session_end(options));
}

} // namespace

action declare_node_list(arguments& takes, node_list list) {
    auto s = std::make_shared<node_list_settings>();
    s->list = std::move(list);
    takes.option("topology-file", s->topology_file).file(file_use::read);
    add_name_map_option(takes, s->name_map);
    const argument& json = takes.flag("--json", s->json);
    takes.flag("--csv", s->csv).excludes(json);
    add_selection_options(takes, s->selected);
    return [s](const global_options& options) { return run_node_list(*s, options); };
}

} // namespace ibtool
