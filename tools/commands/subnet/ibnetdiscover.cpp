// SPDX-License-Identifier: MIT
// ibnetdiscover.cpp - ibnetdiscover: prints the whole subnet as a topology file, or one of several reports; options as in
// infiniband-diags.
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/selection.hpp"
#include "session/subnet_file.hpp"
#include "session/subnet_queries.hpp"
#include "text/diags_text.hpp"
#include "text/output.hpp"
#include <comad/discovery/chassis/detail/hierarchy.hpp>
#include <comad/discovery/compare/detail/topology_difference.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using comad::iba::NodeType;

/// The command line of ibnetdiscover.
struct ibnetdiscover_settings {
    bool full = false, list = false, ports = false, max_hops = false, json = false, grouping = false;
    bool hierarchy = false, qos = false, show = false;
    bool cas = false, switches = false, routers = false;
    unsigned outstanding = 0; // 0: use the global option
    std::string name_map, file;
    std::string cache, load_cache, diff;
    discovery::topology_checks checks;
    selection_options selected;

    /// Returns whether one of the options that print a list takes precedence over --diff, as in infiniband-diags.
    bool prints_list() const noexcept { return ports || list || switches || cas || routers; }
};

std::string now_as_text() {
    const std::time_t now = std::time(nullptr);
    std::string text = std::ctime(&now);
    if (!text.empty()) text.pop_back(); // removes the line break of ctime
    return text;
}

/// Parses the value of --diffcheck, such as `sw,ca,port`. Only the listed properties are compared.
discovery::topology_checks read_checks(const std::string& words) {
    discovery::topology_checks c{false, false, false, false, false, false};
    const std::pair<std::string_view, bool*> known[] = {{"sw", &c.switches},    {"ca", &c.cas},
                                                        {"router", &c.routers}, {"port", &c.links},
                                                        {"lid", &c.lids},       {"nodedesc", &c.descriptions}};
    for (const std::string& key : split(words, ',')) {
        const auto found = std::ranges::find(known, key, &std::pair<std::string_view, bool*>::first);
        if (found == std::end(known))
            throw usage_error(fmt::format("expected a list of sw, ca, router, port, lid, nodedesc, not {}",
                                          comad::iba::as_given(key)));
        *found->second = true;
    }
    return c;
}

/// Returns the line of --show, in the form of dump_endnode() in libibnetdisc.
std::string format_new_node(const discovery::node& n) {
    const u8 port = n.is_switch() ? u8{0} : n.info.localPortNum;
    const auto& info = n.ports[port].info;
    const unsigned LID = info ? value(info->LID) : 0u;
    const unsigned last = info ? LID + (1u << info->LMC) - 1 : 0u;
    return fmt::format("{} -> new {} {{{:016x}}} portnum {} lid {}-{} \"{}\"\n", format_place(n.route),
                       format_node_type(n.info.nodeType), value(n.info.nodeGUID), port, LID, last,
                       comad::iba::escaped(n.description));
}

using failure_list = std::vector<discovery::failure>;

/// Returns the differences from the subnet in the file of --diff. Adds the values of options that match no node of either subnet to `notes`.
std::string difference_of(const ibnetdiscover_settings& s, const discovery::subnet& now,
                          const discovery::node_names& names, const subnet_selection& selected,
                          const global_options& global, std::vector<std::string>& notes) {
    const discovery::subnet before = read_subnet_file(s.diff, global).found;
    const selected_parts old_parts(selected, before, names), new_parts(selected, now, names);
    if (!old_parts.has_nodes()) new_parts.require_nodes();
    std::ranges::copy_if(new_parts.notes(), std::back_inserter(notes), [&](const std::string& note) {
        return std::ranges::find(old_parts.notes(), note) != old_parts.notes().end();
    });
    if (selected.is_all()) return discovery::topology_difference(before, now, names, s.checks, s.full);
    const auto [part_before, part_now] = reduced_for_comparison(before, old_parts, now, new_parts);
    return discovery::topology_difference(part_before, part_now, names, s.checks, s.full);
}

std::string text_of(const ibnetdiscover_settings& s, const discovery::subnet& subnet,
                    const discovery::node_names& names, comad::u64 mads, const discovery::more_of_ports& more) {
    if (s.json) return discovery::json_text(subnet, more);
    if (s.ports) return discovery::ports_report(subnet, names);
    if (s.list) return discovery::node_list(subnet, names, {NodeType::CA, NodeType::Switch, NodeType::Router});
    if (s.switches) return discovery::node_list(subnet, names, {NodeType::Switch});
    if (s.cas) return discovery::node_list(subnet, names, {NodeType::CA});
    if (s.routers) return discovery::node_list(subnet, names, {NodeType::Router});
    const std::string time = now_as_text();
    discovery::topology_options options;
    options.full = s.full;
    options.grouping = s.grouping;
    options.generated_on = time;
    if (s.max_hops) options.mads_used = mads;
    return discovery::format_topology(subnet, names, options);
}

/// Data of ports that a discovery does not read.
struct extra_tables {
    discovery::hierarchies places;
    discovery::subnet_tables facts;
};

/// Queries the data that the options request and a discovery does not read. Returns the failures.
comad::coro::task<failure_list> read_more(session& in, const discovery::subnet& s, const ibnetdiscover_settings& wanted,
                                          extra_tables& read) {
    failure_list missing;
    if (wanted.hierarchy) {
        read.places = co_await read_hierarchies(in.schedule(), s);
        missing = read.places.failures;
    }
    if (wanted.qos) {
        constexpr discovery::table_kinds kinds{.PKeys = true, .SLToVL = true, .VLArbitration = true};
        auto reading = in.options().discovers_by_sa() ? discovery::read_subnet_tables_by_sa(in.schedule(), s, kinds)
                                                      : discovery::read_subnet_tables(in.schedule(), s, kinds);
        read.facts = co_await std::move(reading);
        missing.insert(missing.end(), read.facts.failures.begin(), read.facts.failures.end());
    }
    co_return missing;
}

int run_ibnetdiscover(const ibnetdiscover_settings& s, global_options options) {
    if (s.qos && !s.json) throw usage_error("--qos requires --json");
    if (s.qos && !s.load_cache.empty())
        throw usage_error("--qos excludes --load-cache: it queries the subnet, and a cache has no QoS tables");
    if (s.outstanding) options.outstanding = s.outstanding;
    options.load_cache = s.load_cache;
    const discovery::node_names names = read_node_names(s.name_map);
    const subnet_selection selected(s.selected);
    if (s.hierarchy && options.by_sa)
        throw usage_error("--sa is not supported with --hierarchy, because --hierarchy sends SMPs");
    extra_tables read;
    subnet_printer printer;
    printer.file = s.file;
    if (s.show)
        printer.text_of_new_node = [&](const discovery::node& n) {
            return selected.wants(n, names) ? format_new_node(n) : std::string();
        };
    if (s.qos || s.hierarchy)
        printer.read_more = [&](session& in, const discovery::subnet& found) -> comad::coro::task<failure_list> {
            // The tables refer to the nodes by their indices in the part that is printed.
            const discovery::subnet part = reduced(found, selected, names);
            co_return co_await read_more(in, part, s, read);
        };
    printer.make = [&](const discovery::subnet& found, u64 mads) {
        report made;
        if (!s.cache.empty()) replace_file(discovery::diags_cache_bytes(found), s.cache);
        if (!s.diff.empty() && !s.prints_list()) {
            made.text = difference_of(s, found, names, selected, options, made.notes);
            return made;
        }
        const discovery::more_of_ports more_of{s.hierarchy ? &read.places : nullptr, s.qos ? &read.facts : nullptr};
        made.text = text_of(s, reduced(found, selected, names, &made.notes), names, mads, more_of);
        return made;
    };
    return run_on_subnet(options, printer);
}

} // namespace

command ibnetdiscover_command() {
    return {
        .name = "ibnetdiscover",
        .group = command_group::subnet,
        .per_fabric = true,
        .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<ibnetdiscover_settings>();
            takes.option("topology-file", s->file).file(file_use::written);
            const argument& json = takes.flag("--json", s->json);
            takes.flag("--hierarchy", s->hierarchy).needs(json);
            takes.flag("--qos", s->qos);
            takes.flag("-f,--full", s->full);
            takes.flag("-s,--show", s->show).excludes(json);
            takes.flag("-g,--grouping", s->grouping);
            takes.flag("-l,--list", s->list);
            takes.flag("-H,--Hca_list", s->cas);
            takes.flag("-S,--Switch_list", s->switches);
            takes.flag("-R,--Router_list", s->routers);
            takes.flag("-p,--ports", s->ports);
            takes.flag("-m,--max_hops", s->max_hops);
            takes.option("-o,--outstanding_smps", s->outstanding).range(1, 65536);
            add_name_map_option(takes, s->name_map);
            takes.option("--cache", s->cache).file(file_use::replaced);
            add_load_cache_option(takes, s->load_cache);
            const argument& diff = takes.option("--diff", s->diff).file(file_use::read_regular).excludes(json);
            add_selection_options(takes, s->selected);
            takes.option("--diffcheck", [s](const std::string& words) { s->checks = read_checks(words); }).needs(diff);
            return [s](const global_options& options) { return run_ibnetdiscover(*s, options); };
        }};
}

} // namespace ibtool
