// SPDX-License-Identifier: MIT
// check_lft_balance.cpp - check_lft_balance: checks whether the routes of each switch are distributed evenly over its links to other
// switches.
#include "comad.hpp"
#include "command.hpp"
#include "input/forwarding_dump.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_queries.hpp"
#include "text/json.hpp"
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace ibtool {
namespace {

/// The command line of check_lft_balance.
struct balance_settings {
    std::string name_map, tables, subnet; // file names
    discovery::node_names names;
    bool is_lenient = false, json = false;
};

/// The load of one port that leads to another switch.
struct port_usage {
    unsigned port, lids; ///< number of LIDs of CAs and routers that the port forwards
};

/// The ports of a switch with links to other switches, and the load of each.
struct switch_usage {
    std::vector<port_usage> ports;
    unsigned ports_in_use = 0; ///< includes ports to hosts
};

/// Returns whether the numbers of routes differ by at most one.
bool is_even(const std::vector<unsigned>& routes) {
    if (routes.empty()) return true;
    const auto [least, most] = std::ranges::minmax(routes);
    return most <= least + 1;
}

/// Returns whether the routes of a switch are balanced. With -e, as in infiniband-diags, two more cases count as balanced on a switch with
/// more than 12 ports in use. The ports with at least two routes fewer than the busiest port have no routes at all, or those of them with
/// routes are about half of the ports in use and are balanced among themselves.
bool is_balanced(const switch_usage& u, bool is_lenient) {
    constexpr unsigned few_ports = 12;
    std::vector<unsigned> all, others, used;
    for (const port_usage& p : u.ports) all.push_back(p.lids);
    if (is_even(all)) return true;
    if (!is_lenient || u.ports_in_use <= few_ports) return false;
    const unsigned most = std::ranges::max(all);
    std::ranges::copy_if(all, std::back_inserter(others), [&](unsigned r) { return r + 1 < most; });
    std::ranges::copy_if(others, std::back_inserter(used), [](unsigned r) { return r != 0; });
    if (used.empty()) return true;
    const std::size_t half = u.ports_in_use / 2;
    const bool is_about_half = used.size() + 1 >= half && used.size() <= half + 1;
    return is_about_half && is_even(used);
}

/// Counts the LIDs that each port of a switch forwards.
switch_usage usage_of(const discovery::subnet& s, const discovery::lid_index& index,
                      const discovery::switch_forwarding& table, u32 sw) {
    const auto& ports = s.nodes[sw].ports;
    std::vector<unsigned> routes(256);
    for (const discovery::lid_index::end& e : index.ends()) {
        if (s.nodes[e.where.node].is_switch()) continue;
        for (unsigned LID = e.first; LID < e.first + e.count; ++LID) ++routes[table.out_port(LID)];
    }
    switch_usage u;
    for (unsigned p = 1; p < ports.size(); ++p) {
        const discovery::port_ref peer = ports[p].peer;
        if (!peer && routes[p] == 0) continue;
        ++u.ports_in_use;
        if (!peer || s.nodes[peer.node].is_switch()) u.ports.push_back({p, routes[p]});
    }
    return u;
}

/// Checks the switches with complete forwarding tables, and formats the results.
report judge_balance(const global_options& options, const discovery::subnet& s,
                     const discovery::forwarding_tables& tables, const balance_settings& how) {
    const discovery::lid_index index(s);
    report result;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!s.nodes[n].is_switch() || !tables.of_node[n].complete()) continue;
        const switch_usage u = usage_of(s, index, tables.of_node[n], n);
        const bool is_good = is_balanced(u, how.is_lenient);
        result.is_any_bad = result.is_any_bad || !is_good;
        if (is_good && !options.verbosity) continue;
        if (how.json) {
            nlohmann::ordered_json line{{"nodeGUID", fmt::format("{}", s.nodes[n].info.nodeGUID)},
                                        {"description", json_string(how.names.raw(s.nodes[n]))},
                                        {"balanced", is_good},
                                        {"ports", nlohmann::ordered_json::array()}};
            for (const port_usage& p : u.ports) line["ports"].push_back({{"port", p.port}, {"LIDs", p.lids}});
            result.text += json_line(line);
            continue;
        }
        result.text +=
            fmt::format("{}: {}, 0x{:016x}\n", is_good ? "Switch Port Usage" : "Unbalanced Switch Port Usage",
                        how.names.of(s.nodes[n]), value(s.nodes[n].info.nodeGUID));
        for (const port_usage& p : u.ports) result.text += fmt::format("Port {:03}: {}\n", p.port, p.lids);
    }
    result.missing = named_failures(s, tables.failures);
    result.missing_is_success = true;
    return result;
}

comad::coro::task<report> read_and_judge(session& in, const discovery::subnet& s, const balance_settings& how) {
    discovery::forwarding_options wanted;
    wanted.by_sa = in.options().by_sa;
    wanted.keys = &in.options().keys;
    const discovery::forwarding_tables tables = co_await discovery::read_forwarding(in.schedule(), s, wanted);
    co_return judge_balance(in.options(), s, tables, how);
}

} // namespace

command check_lft_balance_command() {
    return {.name = "check_lft_balance", .group = command_group::checks, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<balance_settings>();
                takes.flag("-e", s->is_lenient);
                takes.option("-l,--tables", s->tables).file(file_use::read);
                add_load_cache_option(takes, s->subnet, "-i,--load-cache");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](global_options options) {
                    s->names = read_node_names(s->name_map);
                    options.load_cache = s->subnet;
                    if (s->tables.empty())
                        return run_on_subnet(options, [&](session& in, const discovery::subnet& known) {
                            return read_and_judge(in, known, *s);
                        });
                    return run_on_subnet(options, [&](const discovery::subnet& known) {
                        return judge_balance(options, known, read_forwarding_dump(s->tables, known), *s);
                    });
                };
            }};
}

} // namespace ibtool
