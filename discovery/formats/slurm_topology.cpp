// SPDX-License-Identifier: MIT
// slurm_topology.cpp - writes a subnet for Slurm's topology plugins (topology.conf(5), topology.yaml(5)).
#include "scheduler_tree.hpp"
#include <comad/discovery/formats/exports.hpp>

#include <fmt/format.h>

#include <utility>

namespace comad::discovery {
namespace {

std::string comments_of(const scheduler_tree& tree, std::string_view plugin) {
    std::string out = fmt::format("# Slurm topology of an InfiniBand subnet, for {}\n", plugin);
    for (const std::string& note : tree.notes) out += fmt::format("# {}\n", note);
    return out;
}
std::string format_merged(const tree_switch& w) {
    return w.merged > 1 ? fmt::format("# {} represents {} switches\n", w.name, w.merged) : std::string();
}

} // namespace

export_text format_slurm_conf(const subnet& s, const node_names& names, const node_selection& selected) {
    scheduler_tree tree = scheduler_tree_of(s, names, selected);
    std::string out =
        comments_of(tree, "TopologyPlugin=topology/tree; Slurm ignores this file if topology.yaml exists");
    for (const tree_switch& w : tree.switches)
        out += fmt::format("{}SwitchName={} {}={}\n", format_merged(w), w.name, w.hosts.empty() ? "Switches" : "Nodes",
                           hostlist(w.hosts.empty() ? w.switches : w.hosts));
    return {std::move(out), std::move(tree.notes), tree.hosts};
}

export_text format_slurm_yaml(const subnet& s, const node_names& names, const node_selection& selected) {
    scheduler_tree tree = scheduler_tree_of(s, names, selected);
    std::string out = comments_of(tree, "Slurm 25.05 and later, which then ignores topology.conf");
    out += "---\n- topology: infiniband\n  cluster_default: true\n  tree:\n    switches:";
    out += tree.switches.empty() ? " []\n" : "\n";
    for (const tree_switch& w : tree.switches) {
        out += fmt::format("      {}- switch: \"{}\"\n",
                           w.merged > 1 ? fmt::format("{}      ", format_merged(w)) : std::string(), w.name);
        out += fmt::format("        {}: \"{}\"\n", w.hosts.empty() ? "children" : "nodes",
                           hostlist(w.hosts.empty() ? w.switches : w.hosts));
    }
    return {std::move(out), std::move(tree.notes), tree.hosts};
}

} // namespace comad::discovery
