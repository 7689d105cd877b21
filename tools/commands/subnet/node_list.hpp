// SPDX-License-Identifier: MIT
// node_list.hpp - the common code of ibhosts, ibswitches, ibrouters and ibnodes: prints one line for each node of some types. The nodes
// come from the subnet or from a topology file. Options as in infiniband-diags.
#pragma once
#include "command.hpp"
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/enums.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// What a command that lists nodes prints.
struct node_list {
    /// Formats the list as text.
    std::string (*text)(const comad::discovery::subnet&, const comad::discovery::node_names&);
    std::vector<comad::iba::NodeType> types; ///< node types, in the order of the output
};

/// Declares the arguments of a command that lists nodes, and returns its action.
action declare_node_list(arguments&, node_list);

} // namespace ibtool
