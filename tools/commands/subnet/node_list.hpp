// SPDX-License-Identifier: MIT
// node_list.hpp - the common part of ibhosts, ibswitches, ibrouters and ibnodes: one line for each node of some types, from the subnet or
// from a topology file; options as in infiniband-diags.
#pragma once
#include "command.hpp"
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/enums.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// What such a command prints.
struct node_list {
    std::string (*text)(const comad::discovery::subnet&, const comad::discovery::node_names&);
    std::vector<comad::iba::NodeType> types; ///< in the order of the text
};

/// Declares the arguments of such a command, and returns its action.
action declare_node_list(arguments&, node_list);

} // namespace ibtool
