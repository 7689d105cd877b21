// SPDX-License-Identifier: MIT
// unreachable_nodes.hpp - the message about a simulated subnet that is not connected. Knows no option.
#pragma once
#include <comad/transports/sim/detail/topology.hpp>

#include <span>

namespace ibtool {

/// A port of a node by which a program uses a subnet; 0 of a switch.
struct sim_place {
    comad::u32 node;
    unsigned port;
};

/// Prints one line on stderr if there are nodes that no cable leads to from any of these ports, as in a file of several planes.
void warn_of_unreachable_nodes(const comad::transports::sim::topology& graph, std::span<const sim_place> places);

} // namespace ibtool
