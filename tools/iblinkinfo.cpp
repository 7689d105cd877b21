// SPDX-License-Identifier: MIT
// iblinkinfo.cpp - iblinkinfo: every link of the subnet, or of a part of it, with its state, width, speed and other end.
#include "commands.hpp"
#include "diags_text.hpp"
#include "link_text.hpp"
#include "subnet_command.hpp"
#include "target.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u32;
using comad::u8;
using discovery::node;
using discovery::node_names;
using discovery::port_ref;
using discovery::subnet;
using iba::NodeType;

struct settings {
    std::string GUID, route, name_map;
    unsigned hops = 0;        ///< 0: not given
    unsigned outstanding = 0; ///< 0: the global one
    bool whole_part = false, only_down = false, by_line = false, additional = false, json = false;
    bool only_switches = false, only_CAs = false;
};

/// Where a part of the subnet begins.
struct place {
    std::optional<iba::guid> GUID;
    std::optional<mad::IBDRPath> route;
    std::string words;
};

place read_place(const settings& s) {
    place p;
    if (!s.GUID.empty()) {
        const mad::address target = read_target(s.GUID, {.guid = true});
        p.GUID = std::get_if<mad::IBPath>(&target.path)->DGID.interface_id();
        p.words = s.GUID;
    } else if (!s.route.empty()) {
        const mad::address target = read_target(s.route, {.direct = true});
        p.route = *mad::directed(target.path);
        p.words = s.route;
    }
    return p;
}

// ---- which nodes -----------------------------------------------------------------------------------------------------

std::optional<u32> node_with(const subnet& s, iba::guid GUID) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& here = s.nodes[n];
        if (here.info.nodeGUID == GUID ||
            std::ranges::find(here.ports, GUID, &discovery::port::portGUID) != here.ports.end())
            return n;
    }
    return std::nullopt;
}

std::optional<u32> node_at(const subnet& s, const mad::IBDRPath& route) {
    u32 n = 0;
    for (unsigned hop = 1; hop <= route.hopCount; ++hop) {
        const u8 port = route.drPath[hop];
        if (port >= s.nodes[n].ports.size() || !s.nodes[n].ports[port].peer) return std::nullopt;
        n = s.nodes[n].ports[port].peer.node;
    }
    return n;
}

/// Which nodes are at most so many links away.
std::vector<bool> within(const subnet& s, u32 start, unsigned hops) {
    std::vector<bool> is_near(s.nodes.size());
    is_near[start] = true;
    std::vector<u32> edge{start};
    for (; hops > 0 && !edge.empty(); --hops) {
        std::vector<u32> next;
        for (const u32 n : edge) {
            for (const discovery::port& p : s.nodes[n].ports) {
                if (!p.peer || is_near[p.peer.node]) continue;
                is_near[p.peer.node] = true;
                next.push_back(p.peer.node);
            }
        }
        edge = std::move(next);
    }
    return is_near;
}

bool is_wanted(const settings& how, const node& n) {
    if (!how.only_switches && !how.only_CAs) return true;
    return n.is_switch() ? how.only_switches : how.only_CAs && n.info.nodeType == NodeType::CA;
}

/// By index, in the subnet's order.
std::vector<u32> wanted_nodes(const settings& how, const place& where, const subnet& s) {
    std::vector<bool> is_in(s.nodes.size(), true);
    std::optional<u32> start;
    if (where.GUID) start = node_with(s, *where.GUID);
    else if (where.route) start = node_at(s, *where.route);
    if (!where.words.empty() && !start)
        throw std::runtime_error(fmt::format("there is no port {}", iba::as_given(where.words)));
    if (start && !how.whole_part) is_in = within(s, *start, 0);
    else if (start || how.hops) is_in = within(s, start.value_or(0), std::max(how.hops, 1u));
    std::vector<u32> nodes;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (is_in[n] && is_wanted(how, s.nodes[n])) nodes.push_back(n);
    return nodes;
}

// ---- what is said of them --------------------------------------------------------------------------------------------

std::string_view type_word(NodeType type) {
    switch (type) {
    case NodeType::Switch: return "Switch";
    case NodeType::CA: return "CA";
    case NodeType::Router: return "Router";
    }
    return "??";
}

std::string head_of(const node& n, const node_names& names) {
    const std::string GUID = n.is_switch() ? fmt::format("0x{:016x} ", value(n.info.portGUID)) : std::string();
    return fmt::format("{}: {}{}:\n", type_word(n.info.nodeType), GUID, names.of(n));
}

std::string line_of(const settings& how, const subnet& s, port_ref r, const node_names& names) {
    const node& n = s.nodes[r.node];
    std::string front = "      ";
    if (how.by_line) front = fmt::format("0x{:016x} \"{:>30}\" ", value(s.at(r).portGUID), names.of(n));
    else if (!n.is_switch()) front += fmt::format("0x{:016x} ", value(s.at(r).portGUID));
    return fmt::format("{}{:6} {:4}[  ] =={}==>  {}\n", front, LID_at(s, r), r.port, link_text(s, r, how.additional),
                       peer_text(s, names, r, how.by_line));
}

nlohmann::ordered_json place_json(const subnet& s, port_ref r, const node_names& names) {
    const node& n = s.nodes[r.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"name", names.of(n)},
            {"portGUID", fmt::format("{}", s.at(r).portGUID)},
            {"LID", LID_at(s, r)},
            {"port", r.port}};
}

std::string json_of(const subnet& s, port_ref r, const node_names& names) {
    const iba::smp::PortInfo& info = *s.at(r).info;
    nlohmann::ordered_json line = place_json(s, r, names);
    line["state"] = link_state_text(info.portState);
    line["physicalState"] = physical_link_state_text(info.portPhysicalState);
    if (info.portState != iba::PortState::Down) {
        line["width"] = width_of(s, r);
        line["speed"] = speed_of(s, r);
        line["HOQLife"] = info.HOQLife;
        line["VLStallCount"] = info.VLStallCount;
    }
    if (const std::string better = better_width(s, r); !better.empty()) line["could_be_width"] = better;
    if (const std::string better = better_speed(s, r); !better.empty()) line["could_be_speed"] = better;
    if (s.at(r).peer) line["peer"] = place_json(s, s.at(r).peer, names);
    return line.dump() + '\n';
}

std::string report_of(const settings& how, const place& where, const subnet& s, const node_names& names) {
    std::string text;
    for (const u32 n : wanted_nodes(how, where, s)) {
        bool has_head = how.by_line || how.json;
        for (unsigned number = 1; number < s.nodes[n].ports.size(); ++number) {
            const port_ref r{n, static_cast<u8>(number)};
            const auto& info = s.at(r).info;
            if (!info || (how.only_down && info->portState != iba::PortState::Down)) continue;
            if (!has_head) text += head_of(s.nodes[n], names);
            has_head = true;
            text += how.json ? json_of(s, r, names) : line_of(how, s, r, names);
        }
    }
    return text;
}

int run_command(const settings& s, global_options options) {
    if (s.outstanding) options.outstanding = s.outstanding;
    const place where = read_place(s);
    const node_names names = read_node_names(s.name_map);
    return discover_and_report(options,
                               [&](const subnet& found, session&) { return report_of(s, where, found, names); });
}

} // namespace

void add_iblinkinfo(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("iblinkinfo", "discover the subnet, print every link");
    auto* GUID = command.add_option("-S,--switch,-G,--port-guid", s->GUID, "only the node with this GUID or port GUID");
    command.add_option("-D,--Direct", s->route, "only the node at the end of this directed route, as 0,1,4")
        ->excludes(GUID);
    command.add_flag("-a,--all", s->whole_part, "of -S, -G and -D: also the nodes around it");
    command.add_option("-n,--hops", s->hops, "how far around it, or around the local node [1]")
        ->check(CLI::Range(1u, 63u));
    command.add_flag("-d,--down", s->only_down, "only links that are down (here -d shows no MADs; --debug does)");
    command.add_flag("-l,--line", s->by_line, "all that there is of a link in one line");
    command.add_flag("-p,--additional", s->additional, "with HOQLife and VLStallCount");
    auto* switches = command.add_flag("--switches-only", s->only_switches, "only those of switches");
    command.add_flag("--cas-only", s->only_CAs, "only those of CAs")->excludes(switches);
    command.add_flag_function(
        "-R", [](std::int64_t) {}, "nothing: accepted for scripts, as in infiniband-diags");
    command.add_option("-o,--outstanding_smps", s->outstanding, "as --outstanding")->check(CLI::Range(1u, 65536u));
    command.add_option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
    command.add_flag("--json", s->json, "a JSON object a line, one for each port");
    add_missing_options(command, {"--load-cache", "--diff", "--diffcheck", "--filterdownports"});
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
