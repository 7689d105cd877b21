// SPDX-License-Identifier: MIT
// node_target.hpp - finds the path to a node by its name: by the SA, or else by a discovery.
#pragma once
#include "session/session.hpp"

#include <optional>
#include <string>

namespace ibtool {

/// A name in a target.
struct name_query {
    std::string name;             ///< the node description, or its first words
    std::optional<unsigned> port; ///< the port that the user wrote after the name
    bool uses_port = false;       ///< the command can use the number of a switch port
};

/// Returns the path to the node: by LID if the SA knows the name, by a directed route if the subnet was discovered. Throws
/// std::runtime_error with one line if no node or several nodes have the name, or if the node does not have the port.
query_task<comad::mad::any_path> path_of_name(session&, name_query);

} // namespace ibtool
