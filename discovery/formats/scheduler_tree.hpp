// SPDX-License-Identifier: MIT
// scheduler_tree.hpp - a subnet as the tree that job schedulers use. Does not depend on the format of a scheduler.
#pragma once
#include <comad/discovery/formats/exports.hpp>

#include <string>
#include <vector>

namespace comad::discovery {

/// A switch of a scheduler: it has hosts or other switches, never both.
struct tree_switch {
    std::string name;
    std::vector<std::string> hosts;
    std::vector<std::string> switches;
    std::size_t merged = 1; ///< number of real switches that it stands for
};

/// A subnet as a forest of switches. Each host and each switch except the roots belongs to exactly one switch.
struct scheduler_tree {
    std::vector<tree_switch> switches; ///< children before their parents
    std::vector<std::string> roots;
    std::vector<std::string> notes; ///< what the tree cannot express, as in export_text
    std::size_t hosts = 0;
};

/// Returns the tree of the selected hosts, as format_slurm_conf() describes it.
scheduler_tree scheduler_tree_of(const subnet&, const node_names&, const node_selection&);

/// Returns `n[1-3,7]` for n1 n2 n3 n7. The digits at the end of each name keep their width.
std::string hostlist(const std::vector<std::string>& names);

} // namespace comad::discovery
