// SPDX-License-Identifier: MIT
// neighbor_port.hpp - finds the path to the port on the other end of a link. Does not depend on a command.
#pragma once
#include "session/session.hpp"
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

/// A path to a node, and the port number. Without a number, the port where the path ends.
struct far_end {
    comad::mad::any_path path;
    std::optional<comad::u8> port;
};

/// Returns the path to the neighbor of port `port` of `node`. The given path leads to `node`; `LID`: the LID of the node, for a switch that
/// of port 0. A directed route gets one hop longer. If it ends at a CA that is not the local one, which forwards nothing, it gets one hop
/// shorter. Otherwise the SA is queried. The path has the M_Key of the neighbor, if it is known; a directed route has no M_Key of the node
/// in front. Throws std::runtime_error if no path exists.
query_task<far_end> other_end(session&, comad::mad::any_path, const comad::iba::smp::NodeInfo& node,
                              comad::iba::lid LID, comad::u8 port);

/// Returns a route to the neighbor with the neighbor's M_Key. The SA or OpenSM's neighbors file identify the port, and thereby its own key;
/// otherwise it is the default key.
query_task<comad::mad::any_path> with_key_beyond(session&, comad::mad::IBDRPath, const comad::iba::smp::NodeInfo& node,
                                                 comad::u8 port);

} // namespace ibtool
