// SPDX-License-Identifier: MIT
// ibnodes.cpp - ibhosts, ibswitches, ibnodes: one line per CA, per switch, per node; options as infiniband-diags has them.
#include "commands.hpp"
#include "output.hpp"
#include "subnet_command.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <vector>

namespace ibtool {
namespace {

namespace iba = comad::iba;
using comad::discovery::node_names;
using comad::discovery::subnet;

std::string hosts_and_switches(const subnet& s, const node_names& names) {
    return comad::discovery::hosts_text(s, names) + comad::discovery::switches_text(s, names);
}

using iba::NodeType;

struct settings {
    std::string topology_file, name_map;
    std::string (*text)(const subnet&, const node_names&);
    std::vector<NodeType> types; ///< in the order of the text
    bool json = false;
};

std::string json_of(const comad::discovery::node& n, const node_names& names) {
    std::string line = fmt::format("{{\"nodeType\":\"{}\",\"nodeGUID\":\"{}\",\"numPorts\":{},\"description\":{}",
                                   iba::name_or_number(n.info.nodeType), n.info.nodeGUID, n.info.numPorts,
                                   iba::json_quoted(names.of(n)));
    if (n.is_switch() && n.ports[0].info)
        line +=
            fmt::format(",\"enhancedPort0\":{},\"LID\":{},\"LMC\":{}", n.switch_info && n.switch_info->enhancedPort0,
                        value(n.ports[0].info->LID), n.ports[0].info->LMC);
    return line + "}\n";
}

std::string report(const settings& s, const subnet& found, const node_names& names) {
    if (!s.json) return s.text(found, names);
    std::string lines;
    for (const NodeType type : s.types)
        for (const auto& n : found.nodes)
            if (n.info.nodeType == type) lines += json_of(n, names);
    return lines;
}

int run_command(const settings& s, const global_options& options) {
    const node_names names = read_node_names(s.name_map);
    if (s.topology_file.empty()) {
        return discover_and_report(options, [&](const subnet& found, session&) { return report(s, found, names); });
    }
    write_output(report(s, read_subnet(s.topology_file), names));
    return complete;
}

void add(CLI::App& app, action& run, const char* name, const char* what,
         std::string (*text)(const subnet&, const node_names&), std::vector<NodeType> types) {
    auto s = std::make_shared<settings>();
    s->text = text;
    s->types = std::move(types);
    CLI::App& command = *app.add_subcommand(name, what);
    command.add_option("topology-file", s->topology_file, "read this file instead of discovering");
    command.add_option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
    command.add_flag("--json", s->json, "a JSON object a line");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace

void add_ibhosts(CLI::App& app, action& run) {
    add(app, run, "ibhosts", "list the CAs", comad::discovery::hosts_text, {NodeType::CA});
}
void add_ibswitches(CLI::App& app, action& run) {
    add(app, run, "ibswitches", "list the switches", comad::discovery::switches_text, {NodeType::Switch});
}
void add_ibnodes(CLI::App& app, action& run) {
    add(app, run, "ibnodes", "list CAs and switches", hosts_and_switches, {NodeType::CA, NodeType::Switch});
}

} // namespace ibtool
