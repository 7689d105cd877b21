// SPDX-License-Identifier: MIT
// iblinkinfo.cpp - iblinkinfo: prints the links of a subnet or of a part of it, with state, width, speed and neighbor.
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/selection.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_place.hpp"
#include "text/csv_table.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/link_text.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace ibtool {
namespace {

using discovery::node;
using discovery::node_names;
using discovery::port_ref;
using discovery::subnet;
using iba::NodeType;

/// The properties of a link that --diff compares.
struct link_checks {
    bool links = true, states = true, lids = false, descriptions = false;
};

/// The command line of iblinkinfo.
struct iblinkinfo_settings {
    std::string target, GUID, route, name_map, load_cache, diff, filter;
    link_checks checks;
    unsigned hops = 0;        ///< 0: the same as without the option, as in infiniband-diags
    unsigned outstanding = 0; ///< 0: use the global option
    bool whole_part = false, only_down = false, only_up = false, guids = false, by_line = false, additional = false,
         json = false, csv = false;
    selection_options selected;
    bool only_switches = false, only_cas = false;
};

// ---- selection of nodes ----------------------------------------------------------------------------------------------

/// Returns which nodes are at most this number of links away from a node.
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
    if (!how.only_switches && !how.only_cas) return true;
    return n.is_switch() ? how.only_switches : how.only_cas && n.info.nodeType == NodeType::CA;
}

bool is_wanted(const iblinkinfo_settings& how, const iba::smp::PortInfo& port) {
    if (port.portState == iba::PortState::Down) return !how.only_up;
    return !how.only_down;
}

/// Returns the indices of the selected nodes, in the order of the subnet.
std::vector<u32> wanted_nodes(const iblinkinfo_settings& how, const subnet_place& where, const subnet& s,
                              const node_names& names, const selected_parts& parts) {
    std::vector<bool> is_in(s.nodes.size(), true);
    const std::optional<u32> start = node_at(s, where, names);
    if (start && !how.whole_part) is_in = within(s, *start, 0);
    else if (start || how.hops) is_in = within(s, start.value_or(0), std::max(how.hops, 1u));
    std::vector<u32> nodes;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (is_in[n] && parts.node(n) && is_wanted(how, s.nodes[n])) nodes.push_back(n);
    return nodes;
}

// ---- output ----------------------------------------------------------------------------------------------------------

std::string head_of(const node& n, const node_names& names) {
    const std::string GUID = n.is_switch() ? fmt::format("0x{:016x} ", value(n.info.portGUID)) : std::string();
    return fmt::format("{}: {}{}:\n", discovery::names_of_type(n.info.nodeType).name, GUID, names.of(n));
}

/// A subnet, with what is needed to format its links.
struct described_links {
    const subnet& s;
    const node_names& names;
    const selected_parts parts;
    const discovery::system_groups groups = discovery::group_nodes(s);
};

std::string link_line(const iblinkinfo_settings& how, const described_links& all, port_ref r) {
    const auto& [s, names, parts, groups] = all;
    const node& n = s.nodes[r.node];
    std::string front = "      ";
    if (how.by_line) front = fmt::format("0x{:016x} \"{:>30}\" ", value(s.at(r).portGUID), names.of(n));
    else if (!n.is_switch() || how.guids) front += fmt::format("0x{:016x} ", value(s.at(r).portGUID));
    return fmt::format("{}{:6} {:4}{} =={}==>  {}\n", front, lid_at(s, r), r.port, format_external_port(groups, r),
                       format_link(s, r, how.additional), format_peer(s, names, r, how.by_line || how.guids, groups));
}

nlohmann::ordered_json json_of(const described_links& all, port_ref r) {
    nlohmann::ordered_json line = place_json(all.s, r, all.names);
    line.update(link_json(all.s, r, all.names, all.groups));
    return line;
}

/// Returns the columns of --csv: members of the JSON objects.
csv_table link_table() {
    return csv_table({"nodeType",
                      "nodeGUID",
                      "description",
                      "portGUID",
                      "LID",
                      "port",
                      "portState",
                      "portPhysicalState",
                      "linkWidthActive",
                      "linkSpeedActive",
                      "linkWidthPossible",
                      "linkSpeedPossible",
                      "linkWidthOtherEnd",
                      "linkSpeedOtherEnd",
                      "peer/nodeType",
                      "peer/nodeGUID",
                      "peer/description",
                      "peer/portGUID",
                      "peer/LID",
                      "peer/port"});
}

/// Returns whether the port is down in both subnets. Returns false if `other` is null.
bool is_down_too(const subnet* other, const subnet& s, port_ref r) {
    if (!other || s.at(r).info->portState != iba::PortState::Down) return false;
    const node* there = other->find(s.nodes[r.node].info.nodeGUID);
    if (!there || r.port >= there->ports.size()) return false;
    const port_ref same{static_cast<u32>(there - other->nodes.data()), r.port};
    const auto& info = there->ports[r.port].info;
    return info ? info->portState == iba::PortState::Down : discovery::has_no_cable_by_file(*other, same);
}

/// Formats the links of the selected nodes.
std::string report_of(const iblinkinfo_settings& how, const subnet_place& where, const described_links& links,
                      const global_options& options) {
    const auto& [s, names, parts, groups] = links;
    std::optional<subnet> filter;
    if (!how.filter.empty()) filter = read_subnet_file(how.filter, options).found;
    std::string text;
    csv_table table = link_table();
    for (const u32 n : wanted_nodes(how, where, s, names, parts)) {
        bool has_head = how.by_line || how.json || how.csv;
        for (unsigned number = 1; number < s.nodes[n].ports.size(); ++number) {
            const port_ref r{n, static_cast<u8>(number)};
            const auto& info = s.at(r).info;
            if (!info || !is_wanted(how, *info) || !parts.link_end(s, r)) continue;
            if (!has_head) text += head_of(s.nodes[n], names);
            has_head = true;
            if (is_down_too(filter ? &*filter : nullptr, s, r)) continue;
            if (how.csv) table.add(json_of(links, r));
            else text += how.json ? json_line(json_of(links, r)) : link_line(how, links, r);
        }
    }
    return how.csv ? table.text() : text;
}

// ---- comparison ------------------------------------------------------------------------------------------------------

/// Parses the value of --diffcheck, such as `port,state`. Only the listed properties are compared.
link_checks read_link_checks(const std::string& words) {
    link_checks c{false, false, false, false};
    const std::pair<std::string_view, bool*> known[] = {
        {"port", &c.links}, {"state", &c.states}, {"lid", &c.lids}, {"nodedesc", &c.descriptions}};
    for (const std::string& key : split(words, ',')) {
        const auto found = std::ranges::find(known, key, &std::pair<std::string_view, bool*>::first);
        if (found == std::end(known))
            throw usage_error(fmt::format("expected a list of port, state, lid, nodedesc, not {}", iba::as_given(key)));
        *found->second = true;
    }
    return c;
}

/// Compares the links of two subnets by the rules of infiniband-diags' iblinkinfo.c. Lines of the old subnet start with `< `, lines of
/// the new one with `> `.
class link_comparison {
public:
    link_comparison(const iblinkinfo_settings& how, const described_links& old_links, const described_links& new_links)
        : how_(how), was_(old_links.s), is_(new_links.s), names_(new_links.names), old_links_(old_links),
          new_links_(new_links) {}

    std::string run(const subnet_place& where) {
        for (const u32 n : wanted_nodes(how_, where, was_, names_, old_links_.parts)) compare(n);
        for (const u32 n : wanted_nodes(how_, where, is_, names_, new_links_.parts)) {
            const auto before = was_.by_guid.find(is_.nodes[n].info.nodeGUID);
            if (before == was_.by_guid.end()) {
                if (!was_.may_lack_nodes) add_all(is_, n, "> ");
            } else if (!old_links_.parts.node(before->second)) {
                compare(before->second); // only the new subnet has a selected port of this node
            }
        }
        return std::move(text_);
    }

private:
    void add_head(const node& n, std::string_view prefix = {}) {
        if (!how_.by_line) text_.append(prefix) += head_of(n, names_);
    }
    void need_head(const node& n) {
        if (!std::exchange(has_head_, true)) add_head(n);
    }
    const selected_parts& parts_of(const subnet& s) const { return &s == &was_ ? old_links_.parts : new_links_.parts; }
    void add_line(const subnet& s, port_ref r, std::string_view prefix) {
        if (s.at(r).info) text_.append(prefix) += link_line(how_, &s == &was_ ? old_links_ : new_links_, r);
    }
    void add_all(const subnet& s, u32 n, std::string_view prefix) {
        bool is_first = true;
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
            const port_ref r{n, static_cast<u8>(p)};
            const auto& info = s.at(r).info;
            if (!info || !is_wanted(how_, *info) || !parts_of(s).link_end(s, r)) continue;
            if (std::exchange(is_first, false)) add_head(s.nodes[n], prefix);
            add_line(s, r, prefix);
        }
    }

    void compare(u32 n) {
        const node& before = was_.nodes[n];
        const auto found = is_.by_guid.find(before.info.nodeGUID);
        if (found == is_.by_guid.end()) {
            if (!is_.may_lack_nodes) add_all(was_, n, "< ");
            return;
        }
        const node& now = is_.nodes[found->second];
        has_head_ = false;
        const bool lid_differs = how_.checks.lids && before.is_switch() && now.is_switch() &&
                                 discovery::lids_differ(was_, {n, 0}, is_, {found->second, 0});
        if (lid_differs || (how_.checks.descriptions && discovery::descriptions_differ(before, now))) {
            add_head(before, "< ");
            add_head(now, "> ");
            has_head_ = true;
        }
        const auto has_no_stanza = [](const node& x) { return x.known == topology_file::extent::links_only; };
        const bool is_known = !has_no_stanza(before) && !has_no_stanza(now);
        if (is_known && before.info.numPorts != now.info.numPorts) {
            need_head(before);
            text_ += fmt::format("< numports = {}\n> numports = {}\n", before.info.numPorts, now.info.numPorts);
            return;
        }
        for (unsigned p = 1; p < before.ports.size() && p < now.ports.size(); ++p) {
            const port_ref b{n, static_cast<u8>(p)}, i{found->second, static_cast<u8>(p)};
            if (!differs(b, i) || !(old_links_.parts.link_end(was_, b) || new_links_.parts.link_end(is_, i))) continue;
            need_head(before);
            add_line(was_, b, "< ");
            add_line(is_, i, "> ");
        }
    }

    /// Returns whether only one of the two subnets has the link or the port. Ports without a cable do not count if one of the subnets was
    /// read from a topology file, which omits them.
    bool is_in_one_alone(port_ref before, port_ref now) const {
        const discovery::port &b = was_.at(before), &n = is_.at(now);
        if (bool(b.peer) != bool(n.peer))
            return !discovery::may_have_peer(was_, before) && !discovery::may_have_peer(is_, now);
        return b.info.has_value() != n.info.has_value() && !discovery::is_of_file(was_.nodes[before.node]) &&
               !discovery::is_of_file(is_.nodes[now.node]);
    }

    bool differs(port_ref was_at, port_ref is_at) const {
        const discovery::port &b = was_.at(was_at), &n = is_.at(is_at);
        const link_checks& c = how_.checks;
        if (c.links && is_in_one_alone(was_at, is_at)) return true;
        const bool has_states = b.info && n.info && !((b.assumed | n.assumed) & discovery::assumed_state);
        if (c.states && has_states && b.info->portState != n.info->portState) return true;
        if (!c.links || !b.peer || !n.peer) return false;
        return was_.at(b.peer).portGUID != is_.at(n.peer).portGUID ||
               (c.lids && discovery::lids_differ(was_, b.peer, is_, n.peer)) ||
               (c.descriptions && discovery::descriptions_differ(was_.nodes[b.peer.node], is_.nodes[n.peer.node]));
    }

    const iblinkinfo_settings& how_;
    const subnet& was_;
    const subnet& is_;
    const node_names& names_;
    const described_links &old_links_, &new_links_;
    bool has_head_ = false;
    std::string text_;
};

int run_iblinkinfo(const iblinkinfo_settings& s, global_options options) {
    if (s.outstanding) options.outstanding = s.outstanding;
    if (!s.target.empty() && !(s.GUID + s.route).empty())
        throw usage_error("a target excludes -G and -D; name the node only once");
    const subnet_place where = s.target.empty() ? read_place(s.GUID, s.route) : read_place(s.target);
    const node_names names = read_node_names(s.name_map);
    options.load_cache = s.load_cache;
    const subnet_selection selected(s.selected);
    const auto make = [&](const subnet& found, u64) {
        const described_links links{found, names, {selected, found, names}};
        report made;
        if (s.diff.empty()) {
            links.parts.require_nodes();
            const auto target = s.whole_part ? std::nullopt : node_at(found, where, names);
            if (target && !selected.wants(found.nodes[*target], names))
                refuse_excluded_target(names.of(found.nodes[*target]));
            const auto is_selected = [&](const node& n) { return is_wanted(s, n) && selected.wants(n, names); };
            if (!selected.is_all() && found.complete() && std::ranges::none_of(found.nodes, is_selected))
                refuse_empty_selection(links.parts.notes());
            made.notes = links.parts.notes();
            made.text = report_of(s, where, links, options);
            return made;
        }
        const subnet file = read_subnet_file(s.diff, options).found;
        const described_links before{file, names, {selected, file, names}};
        if (!before.parts.has_nodes()) links.parts.require_nodes();
        made.text = link_comparison(s, before, links).run(where);
        return made;
    };
    return run_on_subnet(options, subnet_printer{.make = make});
}

} // namespace

command iblinkinfo_command() {
    return {.name = "iblinkinfo",
            .group = command_group::subnet,
            .per_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<iblinkinfo_settings>();
                takes.option("target", s->target).such_as_node_names();
                const argument& GUID = takes.option("-S,--switch,-G,--port-guid", s->GUID);
                takes.option("-D,--Direct", s->route).excludes(GUID);
                takes.flag("-a,--all", s->whole_part);
                takes.option("-n,--hops", s->hops).range(0, 63);
                takes.flag("-g,--guids", s->guids);
                const argument& up = takes.flag("--up", s->only_up);
                takes.flag("-d,--down", s->only_down).excludes(up);
                takes.flag("-l,--line", s->by_line);
                takes.flag("-p,--additional", s->additional);
                const argument& switches = takes.flag("--switches-only", s->only_switches);
                takes.flag("--cas-only", s->only_cas).excludes(switches);
                takes.ignored_flag("-R");
                takes.option("-o,--outstanding_smps", s->outstanding).range(1, 65536);
                add_name_map_option(takes, s->name_map);
                const argument& json = takes.flag("--json", s->json);
                takes.flag("--portguids", s->guids).yields();
                add_load_cache_option(takes, s->load_cache);
                const argument& diff = takes.option("--diff", s->diff).file(file_use::read_regular);
                takes.flag("--csv", s->csv).excludes(json).excludes(diff);
                add_selection_options(takes, s->selected);
                takes.option("--diffcheck", [s](const std::string& words) { s->checks = read_link_checks(words); })
                    .needs(diff);
                takes.option("--filterdownports", s->filter).file(file_use::read_regular);
                return [s](const global_options& options) { return run_iblinkinfo(*s, options); };
            }};
}

} // namespace ibtool
