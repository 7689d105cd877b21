// SPDX-License-Identifier: MIT
// ibfindnodesusing.cpp - ibfindnodesusing: lists the nodes that switches reach through a link, in both directions.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/queries.hpp"
#include "session/report.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_place.hpp"
#include "session/subnet_queries.hpp"
#include "text/host_ranges.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/link_text.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

using discovery::node_names;
using discovery::port_ref;
using discovery::subnet;

/// The command line of ibfindnodesusing.
struct ibfindnodesusing_settings {
    std::string target, port, name_map;
    node_names names;
    bool all_kinds = false, json = false;
    bool verbose = false; ///< print one line with GUID and LID for each port
};

/// Queries the forwarding table of a switch. Returns the output port of each LID up to the top of the table.
coro::task<mad::result<std::vector<u8>>> query_forwarding(session& in, const discovery::node& n) {
    constexpr unsigned block_size = 64, highest_lid = 0xbfff;
    const mad::any_path path = in.options().keys.put_into(n.route, n.info.portGUID);
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::SwitchInfo>(path));
    const unsigned top = std::min<unsigned>(info.linearFDBTop, highest_lid);
    std::vector<coro::task<mad::result<smp::LinearForwardingTable>>> queries;
    for (unsigned block = 0; block <= top / block_size; ++block)
        queries.push_back(in.SubnGet<smp::LinearForwardingTable>(path, block));
    BOOST_OUTCOME_CO_TRY(const auto blocks, co_await all(std::move(queries)));
    std::vector<u8> ports;
    for (const auto& block : blocks) ports.insert(ports.end(), block.portBlock.begin(), block.portBlock.end());
    ports.resize(top + 1);
    co_return ports;
}

/// Returns the end ports whose LIDs the switch forwards through this port, in the order of their first LIDs.
std::vector<port_ref> ports_behind(const subnet& s, const std::vector<u8>& forwarding, u8 port, bool all_kinds) {
    std::vector<std::pair<unsigned, port_ref>> found;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const discovery::node& here = s.nodes[n];
        if (!all_kinds && here.info.nodeType != iba::NodeType::CA) continue;
        const unsigned first = here.is_switch() ? 0 : 1, last = here.is_switch() ? 0 : here.info.numPorts;
        for (unsigned number = first; number <= last && number < here.ports.size(); ++number) {
            const auto& info = here.ports[number].info;
            if (!info || value(info->LID) == 0) continue;
            const unsigned base = value(info->LID);
            for (unsigned LID = base; LID < base + (1u << info->LMC) && LID < forwarding.size(); ++LID) {
                if (forwarding[LID] != port) continue;
                found.push_back({base, {n, static_cast<u8>(number)}});
                break;
            }
        }
    }
    std::ranges::stable_sort(found, {}, &std::pair<unsigned, port_ref>::first);
    std::vector<port_ref> ports;
    for (const auto& [LID, r] : found) ports.push_back(r);
    return ports;
}

/// Returns one end of the link: `0x0000000000005000 5 ("first switch" base)`. The second end has no quotes and no kind of port 0, as in
/// infiniband-diags.
std::string end_of_link(const subnet& s, port_ref r, const node_names& names, bool is_first) {
    const discovery::node& n = s.nodes[r.node];
    const std::string_view kind = n.switch_info && n.switch_info->enhancedPort0 ? "enhanced" : "base";
    const std::string called = is_first ? fmt::format("\"{}\" {}", names.of(n), kind) : names.of(n);
    return fmt::format("0x{:016x} {} ({})", value(n.info.nodeGUID), r.port, called);
}

std::string hosts_line(const subnet& s, const std::vector<port_ref>& ports, const ibfindnodesusing_settings& how) {
    std::string line;
    std::vector<std::string> called;
    for (const port_ref r : ports) {
        const discovery::node& n = s.nodes[r.node];
        called.push_back(how.names.of(n));
        if (how.verbose)
            line += fmt::format("0x{:016x} lid {} \"{}\"\n", value(s.at(r).portGUID), lid_at(s, r), called.back());
    }
    if (how.verbose) return line;
    for (const std::string& range : host_ranges(called)) line += ' ' + range;
    return line + '\n';
}

nlohmann::ordered_json ports_json(const subnet& s, const std::vector<port_ref>& ports, const node_names& names) {
    auto list = nlohmann::ordered_json::array();
    for (const port_ref r : ports) list.push_back(place_json(s, r, names));
    return list;
}

/// Returns the link of a switch port to its neighbor. Throws std::runtime_error with one line if the port has no link.
port_ref require_link(const subnet& s, u32 index, u8 port, const ibfindnodesusing_settings& how) {
    const discovery::node& n = s.nodes[index];
    if (!n.is_switch())
        throw std::runtime_error(
            fmt::format("{} is not a switch; give a switch and one of its ports", iba::as_given(how.target)));
    if (port == 0 || port >= n.ports.size())
        throw std::runtime_error(
            fmt::format("{} has no port {}; valid ports: 1..{}", iba::as_given(how.target), port, n.info.numPorts));
    if (!n.ports[port].peer)
        throw std::runtime_error(fmt::format("port {} of {} has no link", port, iba::as_given(how.target)));
    return {index, port};
}

coro::task<report> find_nodes(session& in, const subnet& s, const subnet_place& where, u8 port,
                              const ibfindnodesusing_settings& how) {
    const u32 index = *node_at(s, where, how.names);
    const port_ref here = require_link(s, index, port, how), there = s.at(here).peer;
    std::optional<std::vector<port_ref>> out, back; // nullopt: not a switch, or the query failed
    report result;
    const auto missing = [&](port_ref r, const mad::mad_error& e) {
        result.missing.push_back(missing_at(s, {r.node, 0}, to_string(e), plain_text(e)));
    };
    const auto forwarding = co_await query_forwarding(in, s.nodes[here.node]);
    if (forwarding) out = ports_behind(s, forwarding.value(), here.port, how.all_kinds);
    else missing(here, forwarding.error());
    if (s.nodes[there.node].is_switch()) {
        const auto far = co_await query_forwarding(in, s.nodes[there.node]);
        if (far) back = ports_behind(s, far.value(), there.port, how.all_kinds);
        else missing(there, far.error());
    }
    if (how.json) {
        nlohmann::ordered_json all{{"schema", "comad.link_users/1"},
                                   {"complete", result.missing.empty() && s.complete()},
                                   {"link", {place_json(s, here, how.names), place_json(s, there, how.names)}}};
        if (out) all["out"] = ports_json(s, *out, how.names);
        if (back) all["back"] = ports_json(s, *back, how.names);
        result.text = json_line(all);
        co_return result;
    }
    const std::vector<port_ref> none;
    const std::string first = end_of_link(s, here, how.names, true), second = end_of_link(s, there, how.names, false);
    result.text =
        fmt::format("{}  ==>>  {}\n{}\n{}  <<==  {}\n{}", first, second, hosts_line(s, out.value_or(none), how), first,
                    second, hosts_line(s, back.value_or(none), how));
    co_return result;
}

int run_ibfindnodesusing(ibfindnodesusing_settings s, const global_options& options) {
    const subnet_place where = read_place(s.target);
    const auto port = static_cast<u8>(read_number(s.port, "the port", 254));
    s.names = read_node_names(s.name_map);
    s.verbose = options.verbosity > 0;
    return run_on_subnet(options,
                         [&](session& in, const subnet& found) { return find_nodes(in, found, where, port, s); });
}

} // namespace

command ibfindnodesusing_command() {
    return {.name = "ibfindnodesusing",
            .group = command_group::subnet,
            .no_sa_reason = "discovery queries every node itself",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibfindnodesusing_settings>();
                takes.option("target", s->target).such_as_node_names().required();
                takes.option("port", s->port).required();
                takes.flag("-a,--all", s->all_kinds);
                takes.ignored_flag("-R");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_ibfindnodesusing(*s, options); };
            }};
}

} // namespace ibtool
