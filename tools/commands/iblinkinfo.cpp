// SPDX-License-Identifier: MIT
// iblinkinfo.cpp - iblinkinfo: every link of the subnet, or of a part of it, with its state, width, speed and other end.
#include "command.hpp"
#include "session/subnet_command.hpp"
#include "session/subnet_place.hpp"
#include "text/link_json.hpp"
#include "text/link_text.hpp"
#include <comad/discovery/node_words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
using comad::u32;
using comad::u8;
using discovery::node;
using discovery::node_names;
using discovery::port_ref;
using discovery::subnet;
using iba::NodeType;

struct iblinkinfo_settings {
    std::string target, GUID, route, name_map;
    unsigned hops = 0;        ///< 0: not given
    unsigned outstanding = 0; ///< 0: the global one
    bool whole_part = false, only_down = false, only_up = false, GUIDs = false, by_line = false, additional = false,
         json = false;
    bool only_switches = false, only_CAs = false;
};

// ---- which nodes -----------------------------------------------------------------------------------------------------

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

bool is_wanted(const iblinkinfo_settings& how, const node& n) {
    if (!how.only_switches && !how.only_CAs) return true;
    return n.is_switch() ? how.only_switches : how.only_CAs && n.info.nodeType == NodeType::CA;
}

bool is_wanted(const iblinkinfo_settings& how, const iba::smp::PortInfo& port) {
    if (port.portState == iba::PortState::Down) return !how.only_up;
    return !how.only_down;
}

/// By index, in the subnet's order.
std::vector<u32> wanted_nodes(const iblinkinfo_settings& how, const subnet_place& where, const subnet& s,
                              const node_names& names) {
    std::vector<bool> is_in(s.nodes.size(), true);
    const std::optional<u32> start = node_at(s, where, names);
    if (start && !how.whole_part) is_in = within(s, *start, 0);
    else if (start || how.hops) is_in = within(s, start.value_or(0), std::max(how.hops, 1u));
    std::vector<u32> nodes;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (is_in[n] && is_wanted(how, s.nodes[n])) nodes.push_back(n);
    return nodes;
}

// ---- what is said of them --------------------------------------------------------------------------------------------

std::string head_of(const node& n, const node_names& names) {
    const std::string GUID = n.is_switch() ? fmt::format("0x{:016x} ", value(n.info.portGUID)) : std::string();
    return fmt::format("{}: {}{}:\n", discovery::words_of(n.info.nodeType).name, GUID, names.of(n));
}

std::string line_of(const iblinkinfo_settings& how, const subnet& s, port_ref r, const node_names& names) {
    const node& n = s.nodes[r.node];
    std::string front = "      ";
    if (how.by_line) front = fmt::format("0x{:016x} \"{:>30}\" ", value(s.at(r).portGUID), names.of(n));
    else if (!n.is_switch() || how.GUIDs) front += fmt::format("0x{:016x} ", value(s.at(r).portGUID));
    return fmt::format("{}{:6} {:4}[  ] =={}==>  {}\n", front, LID_at(s, r), r.port, link_text(s, r, how.additional),
                       peer_text(s, names, r, how.by_line || how.GUIDs));
}

std::string json_of(const subnet& s, port_ref r, const node_names& names) {
    nlohmann::ordered_json line = place_json(s, r, names);
    line.update(link_json(s, r, names));
    return line.dump() + '\n';
}

std::string report_of(const iblinkinfo_settings& how, const subnet_place& where, const subnet& s,
                      const node_names& names) {
    std::string text;
    for (const u32 n : wanted_nodes(how, where, s, names)) {
        bool has_head = how.by_line || how.json;
        for (unsigned number = 1; number < s.nodes[n].ports.size(); ++number) {
            const port_ref r{n, static_cast<u8>(number)};
            const auto& info = s.at(r).info;
            if (!info || !is_wanted(how, *info)) continue;
            if (!has_head) text += head_of(s.nodes[n], names);
            has_head = true;
            text += how.json ? json_of(s, r, names) : line_of(how, s, r, names);
        }
    }
    return text;
}

int run_iblinkinfo(const iblinkinfo_settings& s, global_options options) {
    if (s.outstanding) options.outstanding = s.outstanding;
    if (!s.target.empty() && !(s.GUID + s.route).empty())
        throw usage_error("the node is named twice: by a target, and by -G or -D");
    const subnet_place where = s.target.empty() ? read_place(s.GUID, s.route) : read_place(s.target);
    const node_names names = read_node_names(s.name_map);
    return discover_and_report(options,
                               [&](const subnet& found, session&) { return report_of(s, where, found, names); });
}

} // namespace

command iblinkinfo_command() {
    return {.name = "iblinkinfo",
            .group = command_group::subnet,
            .summary = "discover the subnet, print every link",
            .examples = "iblinkinfo\niblinkinfo -l --switches-only\niblinkinfo -d\niblinkinfo 7 --up\niblinkinfo -G "
                        "0x0002c90300001491 --json",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<iblinkinfo_settings>();
                takes.option("target", s->target, "only this node; also by its name");
                const argument& GUID =
                    takes.option("-S,--switch,-G,--port-guid", s->GUID, "only the node with this GUID or port GUID");
                takes.option("-D,--Direct", s->route, "only the node at the end of this directed route, e.g. 0,1,4")
                    .excludes(GUID);
                takes.flag("-a,--all", s->whole_part, "with -S, -G or -D: also the nodes around it");
                takes.option("-n,--hops", s->hops, "how far around it, or around the local node [1]").range(1, 63);
                takes.flag("-g,--guids", s->GUIDs, "with the port GUIDs of both ends");
                const argument& up = takes.flag("--up", s->only_up, "only links that are not down");
                takes.flag("-d,--down", s->only_down, "only links that are down (here -d shows no MADs; --debug does)")
                    .excludes(up);
                takes.flag("-l,--line", s->by_line, "everything about a link on one line");
                takes.flag("-p,--additional", s->additional, "with HOQLife and VLStallCount");
                const argument& switches = takes.flag("--switches-only", s->only_switches, "only links of switches");
                takes.flag("--cas-only", s->only_CAs, "only links of CAs").excludes(switches);
                takes.ignored_flag("-R", "ignored; accepted for scripts, as by infiniband-diags");
                takes.option("-o,--outstanding_smps", s->outstanding, "same as --outstanding").range(1, 65536);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json, "one JSON object per line, for each port");
                takes.missing({"--load-cache", "--diff", "--diffcheck", "--filterdownports"});
                return [s](const global_options& options) { return run_iblinkinfo(*s, options); };
            }};
}

} // namespace ibtool
