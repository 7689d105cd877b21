// SPDX-License-Identifier: MIT
// init_all_ports.cpp - init_all_ports: sets every link of the subnet to Initialize, as after a restart of its switches.
#include "comad.hpp"
#include "command.hpp"
#include "commands/writing/port_sets.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"

#include <memory>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;

/// The command line of init_all_ports.
struct init_all_ports_settings : port_sets_options {
    std::string name_map;
};

/// Returns whether a subnet manager has configured the port: its state is Armed or Active.
bool is_configured(const discovery::port& p) {
    using enum comad::iba::PortState;
    return p.info && p.info->portState != Down && p.info->portState != Initialize && p.info->portState != NoChange;
}

/// Returns whether this is the end of the link that is nearer to the local port. The reply of that end crosses no link that was changed
/// before.
bool is_nearer_end(const subnet& s, port_ref here) {
    const port_ref there = s.at(here).peer;
    if (!there) return true;
    const auto hops = [&](port_ref r) { return s.nodes[r.node].route.hopCount; };
    if (hops(here) != hops(there)) return hops(here) < hops(there);
    return here.node != there.node ? here.node < there.node : here.port <= there.port;
}

/// Returns one port for each configured link.
std::vector<port_set> ports_of_all_links(const subnet& s) {
    std::vector<port_set> sets;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned number = 1; number < s.nodes[n].ports.size(); ++number) {
            const port_ref r{n, static_cast<u8>(number)};
            if (is_configured(s.at(r)) && is_nearer_end(s, r)) sets.push_back({r, s.nodes[n].route});
        }
    return sets;
}

int run_init_all_ports(init_all_ports_settings s, const global_options& options) {
    s.change = read_port_change({"down"});
    s.names = read_node_names(s.name_map);
    return run_on_subnet(
        options, [&](session& in, const subnet& found) { return set_ports(in, found, ports_of_all_links(found), s); });
}

} // namespace

command init_all_ports_command() {
    return {.name = "init_all_ports",
            .group = command_group::writing,
            .no_sa_reason = "the SA cannot change a port",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<init_all_ports_settings>();
                takes.flag("--dry-run", s->dry_run);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_init_all_ports(*s, options); };
            }};
}

} // namespace ibtool
