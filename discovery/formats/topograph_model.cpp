// SPDX-License-Identifier: MIT
// topograph_model.cpp - writes a subnet as a model of NVIDIA topograph (YAML).
#include "scheduler_tree.hpp"
#include <comad/discovery/formats/exports.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace comad::discovery {
namespace {

/// Returns names as a list of YAML. The names contain no character that ends a quoted text.
std::string yaml_list(const std::vector<std::string>& names) { return fmt::format("['{}']", fmt::join(names, "', '")); }

} // namespace

export_text format_topograph(const subnet& s, const node_names& names, const node_selection& selected) {
    scheduler_tree tree = scheduler_tree_of(s, names, selected);
    std::string out = "# Model of an InfiniBand subnet, for NVIDIA topograph\n";
    for (const std::string& note : tree.notes) out += fmt::format("# {}\n", note);
    // Models of 2026 have hosts in `blocks`. Models before have them in `switches` and in `nodes`, and ignore `blocks`.
    std::string switches, blocks, nodes;
    for (const tree_switch& w : tree.switches) {
        if (w.merged > 1) switches += fmt::format("  # {} represents {} switches\n", w.name, w.merged);
        const bool is_leaf = !w.hosts.empty();
        switches += fmt::format("  '{}':\n    {}: {}\n", w.name, is_leaf ? "nodes" : "switches",
                                yaml_list(is_leaf ? w.hosts : w.switches));
        if (!is_leaf) continue;
        blocks += fmt::format("  - switch: '{}'\n    nodes: {}\n", w.name, yaml_list(w.hosts));
        for (const std::string& host : w.hosts) nodes += fmt::format("  '{}': {{}}\n", host);
    }
    const auto section = [&out](std::string_view name, std::string_view empty, const std::string& content) {
        out += content.empty() ? fmt::format("{}: {}\n", name, empty) : fmt::format("{}:\n{}", name, content);
    };
    section("switches", "{}", switches);
    section("nodes", "{}", nodes);
    section("blocks", "[]", blocks);
    return {std::move(out), std::move(tree.notes), tree.hosts};
}

} // namespace comad::discovery
