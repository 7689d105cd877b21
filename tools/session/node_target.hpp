// SPDX-License-Identifier: MIT
// node_target.hpp - from the name of a node to a path: by the SA, otherwise by a discovery.
#pragma once
#include "session/session.hpp"

#include <optional>
#include <string>

namespace ibtool {

/// A name in a target.
struct name_query {
    std::string name;             ///< the node description, or its first words
    std::optional<unsigned> port; ///< that the user wrote behind it
    bool uses_port = false;       ///< the command has a use for the number of a switch port
};

/// By LID if the SA has it, by a directed route if the subnet was discovered. Throws std::runtime_error with one line if no node or
/// several nodes have the name, and for a port that is none of the node's.
query_task<comad::mad::any_path> path_of_name(session&, name_query);

} // namespace ibtool
