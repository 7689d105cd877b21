// SPDX-License-Identifier: MIT
// node_list.cpp - prints one line for each node of the requested types.
#include "commands/subnet/node_list.hpp"

#include "comad.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

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
    bool json = false;
};

nlohmann::ordered_json listed_node_json(const comad::discovery::node& n, const node_names& names) {
    nlohmann::ordered_json line{{"nodeType", iba::name_or_number(n.info.nodeType)},
                                {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
                                {"numPorts", n.info.numPorts},
                                {"description", json_string(names.raw(n))}};
    if (n.is_switch() && n.ports[0].info) {
        line["enhancedPort0"] = n.switch_info && n.switch_info->enhancedPort0;
        line["LID"] = value(n.ports[0].info->LID);
        line["LMC"] = n.ports[0].info->LMC;
    }
    return line;
}

std::string list_of_nodes(const node_list_settings& s, const subnet& found, const node_names& names) {
    if (!s.json) return s.list.text(found, names);
    std::string lines;
    for (const NodeType type : s.list.types)
        for (const auto& n : found.nodes)
            if (n.info.nodeType == type && n.known != comad::topology_file::extent::links_only)
                lines += json_line(listed_node_json(n, names));
    return lines;
}

int run_node_list(const node_list_settings& s, const global_options& options) {
    const node_names names = read_node_names(s.name_map);
    if (s.topology_file.empty()) {
        const auto make = [&](const subnet& found, u64) { return report{.text = list_of_nodes(s, found, names)}; };
        return run_on_subnet(options, subnet_printer{.make = make});
    }
    write_output(list_of_nodes(s, read_subnet(s.topology_file, options), names));
    return complete;
}

} // namespace

action declare_node_list(arguments& takes, node_list list) {
    auto s = std::make_shared<node_list_settings>();
    s->list = std::move(list);
    takes.option("topology-file", s->topology_file).file(file_use::read);
    add_name_map_option(takes, s->name_map);
    takes.flag("--json", s->json);
    return [s](const global_options& options) { return run_node_list(*s, options); };
}

} // namespace ibtool
