// SPDX-License-Identifier: MIT
// unreachable_nodes.hpp - prints a warning about a simulated subnet that is not connected.
#pragma once
#include <comad/transports/sim/detail/topology.hpp>

#include <span>

namespace ibtool {

/// A port through which a program uses a subnet; 0 for a switch.
struct sim_place {
    comad::u32 node;
    unsigned port;
};

/// Prints one line on stderr if no cable leads from any of these ports to some nodes, as in a file with several planes.
void warn_of_unreachable_nodes(const comad::transports::sim::topology& graph, std::span<const sim_place> places);

} // namespace ibtool
