// SPDX-License-Identifier: MIT
// ibnetdiscover.cpp - the whole subnet, as a topology file or one of several reports; options as infiniband-diags has them.
#include "command.hpp"
#include "session/subnet_command.hpp"

#include <ctime>
#include <memory>

namespace ibtool {
namespace {

using comad::iba::NodeType;

struct ibnetdiscover_settings {
    bool full = false, list = false, ports = false, max_hops = false, json = false;
    bool cas = false, switches = false, routers = false;
    unsigned outstanding = 0; // 0: the global one
    std::string name_map, file;
};

std::string now_as_text() {
    const std::time_t now = std::time(nullptr);
    std::string text = std::ctime(&now);
    if (!text.empty()) text.pop_back(); // its line break
    return text;
}

namespace discovery = comad::discovery;

std::string text_of(const ibnetdiscover_settings& s, const discovery::subnet& subnet,
                    const discovery::node_names& names, const comad::coro::MADSchedule& schedule) {
    if (s.json) return discovery::json_text(subnet);
    if (s.ports) return discovery::ports_report(subnet, names);
    if (s.list) return discovery::node_list(subnet, names, {NodeType::CA, NodeType::Switch, NodeType::Router});
    if (s.switches) return discovery::node_list(subnet, names, {NodeType::Switch});
    if (s.cas) return discovery::node_list(subnet, names, {NodeType::CA});
    if (s.routers) return discovery::node_list(subnet, names, {NodeType::Router});
    const std::string time = now_as_text();
    discovery::topology_options options;
    options.full = s.full;
    options.generated_on = time;
    if (s.max_hops) options.mads_used = schedule.counters().sent;
    return discovery::topology_text(subnet, names, options);
}

int run_ibnetdiscover(const ibnetdiscover_settings& s, global_options options) {
    if (s.outstanding) options.outstanding = s.outstanding;
    const discovery::node_names names = read_node_names(s.name_map);
    return discover_and_report(
        options, [&](const discovery::subnet& subnet, session& in) { return text_of(s, subnet, names, in.schedule()); },
        s.file);
}

} // namespace

command ibnetdiscover_command() {
    return {.name = "ibnetdiscover",
            .group = command_group::subnet,
            .summary = "discover the subnet, print its topology",
            .examples = "ibnetdiscover fabric.topo\nibnetdiscover --fabric sim:fattree2,radix=8,sm=1 --json",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<ibnetdiscover_settings>();
                takes.option("topology-file", s->file, "write the report to this file instead of stdout");
                takes.flag("--json", s->json, "everything as one JSON object");
                takes.flag("-f,--full", s->full, "also show speed, width and VL codes of every link");
                takes.ignored_flag("-s,--show", "ignored: a terminal shows progress anyway");
                takes.flag("-l,--list", s->list, "one line for each node");
                takes.flag("-H,--Hca_list", s->cas, "one line for each CA");
                takes.flag("-S,--Switch_list", s->switches, "one line for each switch");
                takes.flag("-R,--Router_list", s->routers, "one line for each router");
                takes.flag("-p,--ports", s->ports, "one line for each port");
                takes.flag("-m,--max_hops", s->max_hops, "also report the longest route and the number of MADs");
                takes.option("-o,--outstanding_smps", s->outstanding, "same as --outstanding").range(1, 65536);
                add_name_map_option(takes, s->name_map);
                takes.missing({"-g,--grouping", "--cache", "--load-cache", "--diff", "--diffcheck"});
                return [s](const global_options& options) { return run_ibnetdiscover(*s, options); };
            }};
}

} // namespace ibtool
