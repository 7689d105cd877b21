// SPDX-License-Identifier: MIT
// node_list.hpp - what ibhosts, ibswitches, ibrouters and ibnodes have in common: a line for each node of some types, of the
// subnet or of a topology file; options as infiniband-diags has them.
#pragma once
#include "command.hpp"
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/enums.hpp>

#include <string>
#include <vector>

namespace ibtool {

struct node_list {
    std::string (*text)(const comad::discovery::subnet&, const comad::discovery::node_names&);
    std::vector<comad::iba::NodeType> types; ///< in the order of the text
};

/// The arguments of such a command, and what it runs.
action declare_node_list(arguments&, node_list);

} // namespace ibtool
