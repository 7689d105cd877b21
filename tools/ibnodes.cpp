// SPDX-License-Identifier: MIT
// ibnodes.cpp - ibhosts, ibswitches, ibnodes: one line per CA, per switch, per node; options as infiniband-diags has them.
#include "commands.hpp"
#include "output.hpp"
#include "subnet_command.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ibtool {
namespace {

using comad::discovery::node_names;
using comad::discovery::subnet;

std::string hosts_and_switches(const subnet& s, const node_names& names) {
    return comad::discovery::hosts_text(s, names) + comad::discovery::switches_text(s, names);
}

struct settings {
    std::string topology_file, name_map;
    std::string (*text)(const subnet&, const node_names&);
};

int run_command(const settings& s, const global_options& options) {
    const node_names names = read_node_names(s.name_map);
    if (s.topology_file.empty()) {
        return discover_and_report(options, [&](const subnet& found, session&) { return s.text(found, names); });
    }
    write_output(s.text(read_subnet(s.topology_file), names));
    return complete;
}

void add(CLI::App& app, action& run, const char* name, const char* what,
         std::string (*text)(const subnet&, const node_names&)) {
    auto s = std::make_shared<settings>();
    s->text = text;
    CLI::App& command = *app.add_subcommand(name, what);
    command.add_option("topology-file", s->topology_file, "read this file instead of discovering");
    command.add_option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace

void add_ibhosts(CLI::App& app, action& run) { add(app, run, "ibhosts", "list the CAs", comad::discovery::hosts_text); }
void add_ibswitches(CLI::App& app, action& run) {
    add(app, run, "ibswitches", "list the switches", comad::discovery::switches_text);
}
void add_ibnodes(CLI::App& app, action& run) { add(app, run, "ibnodes", "list CAs and switches", hosts_and_switches); }

} // namespace ibtool
