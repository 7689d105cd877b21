// SPDX-License-Identifier: MIT
// set_port_state.cpp - set_port_state: disables or enables ports, or sets them to Initialize. Uses routes that avoid the links of these
// ports.
#include "comad.hpp"
#include "command.hpp"
#include "commands/writing/port_sets.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_place.hpp"
#include "session/subnet_queries.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;

/// The command line of set_port_state.
struct set_port_state_settings : port_sets_options {
    std::vector<std::string> ports; // NODE@PORT
    std::string name_map;
    bool disables = false, enables = false, initializes = false, force = false;
};

/// A port as the user named it.
struct named_port {
    std::string words;
    subnet_place place;
    u8 port;
};

named_port read_named_port(const std::string& text) {
    const std::size_t at = text.rfind('@');
    if (at == text.npos) throw usage_error(fmt::format("invalid port {}; expected NODE@PORT", iba::as_given(text)));
    return {text, read_place(text.substr(0, at)), static_cast<u8>(read_number(text.substr(at + 1), "the port", 254))};
}

/// Returns the port in the subnet. Throws std::runtime_error with one line if the node does not have it.
port_ref find_port(const subnet& s, const named_port& p, const discovery::node_names& names) {
    const u32 n = *node_at(s, p.place, names);
    const unsigned count = s.nodes[n].info.numPorts;
    if (p.port == 0 || p.port > count || p.port >= s.nodes[n].ports.size())
        throw std::runtime_error(
            fmt::format("{}: the node has no such port; valid ports: 1..{}", iba::as_given(p.words), count));
    return {n, p.port};
}

/// Returns the node of the subnet manager; nullopt if the local port does not know its LID, or no node has it.
std::optional<u32> manager_of(session& in, const subnet& s) {
    const iba::lid LID = in.local_port().sa_path.DLID;
    if (value(LID) == 0) return std::nullopt;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (const discovery::port& p : s.nodes[n].ports)
            if (p.info && p.info->LID == LID) return n;
    return std::nullopt;
}

/// Throws std::runtime_error with one line if disabling the ports would make one of them unreachable from the local port, or the subnet
/// manager unreachable from the subnet. The local port itself replies to this host without a link (rdma-core #847, #868).
void refuse_to_disable(session& in, const subnet& s, const std::vector<port_ref>& ports,
                       const std::vector<named_port>& named,
                       const std::vector<std::optional<comad::mad::IBDRPath>>& routes) {
    for (std::size_t i = 0; i < ports.size(); ++i)
        if (!routes[ports[i].node])
            throw std::runtime_error(fmt::format(
                "{} not disabled: it can be reached only through links that this command would disable; add "
                "--force to disable it anyway",
                iba::as_given(named[i].words)));
    const std::optional<u32> manager = manager_of(in, s);
    if (!manager) return;
    // If this host disconnects itself, the subnet manager stays connected, unless it runs on this host.
    std::vector<port_ref> others = ports;
    const bool is_here = *manager == 0 && !s.nodes.front().is_switch();
    const auto is_own = [&](port_ref p) { return p == port_ref{0, s.start_port}; };
    const bool disconnects_it = is_here && std::ranges::any_of(ports, [&](port_ref p) {
                                    return is_own(p) || s.at(p).peer == port_ref{0, s.start_port};
                                });
    std::erase_if(others, is_own);
    if (disconnects_it || !routes_without(s, others)[*manager])
        throw std::runtime_error(
            "nothing disabled: the subnet manager would be disconnected; add --force to disable the "
            "ports anyway");
}

coro::task<report> set_port_states(session& in, const subnet& s, const std::vector<named_port>& named,
                                   const set_port_state_settings& how) {
    std::vector<port_ref> ports;
    for (const named_port& p : named) ports.push_back(find_port(s, p, how.names));
    const auto routes = routes_without(s, ports);
    if (how.disables && !how.force) refuse_to_disable(in, s, ports, named, routes);
    std::vector<port_set> sets;
    for (const port_ref r : ports) {
        const bool is_repeated = std::ranges::find(sets, r, &port_set::where) != sets.end();
        if (!is_repeated) sets.push_back({r, routes[r.node].value_or(s.nodes[r.node].route)});
    }
    co_return co_await set_ports(in, s, std::move(sets), how);
}

int run_set_port_state(set_port_state_settings s, const global_options& options) {
    if (s.disables + s.enables + s.initializes != 1)
        throw usage_error("give exactly one of --disable, --enable and --init");
    s.change = read_port_change({s.disables ? "disable" : s.enables ? "enable" : "down"});
    std::vector<named_port> named;
    for (const std::string& text : s.ports) named.push_back(read_named_port(text));
    s.names = read_node_names(s.name_map);
    return run_on_subnet(options,
                         [&](session& in, const subnet& found) { return set_port_states(in, found, named, s); });
}

} // namespace

command set_port_state_command() {
    return {.name = "set_port_state",
            .group = command_group::writing,
            .no_sa_reason = "the SA cannot change a port",
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<set_port_state_settings>();
                takes.option("port", s->ports).required();
                const argument& disables = takes.flag("--disable", s->disables);
                const argument& enables = takes.flag("--enable", s->enables).excludes(disables);
                takes.flag("--init", s->initializes).excludes(disables).excludes(enables);
                takes.flag("--dry-run", s->dry_run);
                takes.flag("--force", s->force);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_set_port_state(*s, options); };
            }};
}

} // namespace ibtool
