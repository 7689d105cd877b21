// SPDX-License-Identifier: MIT
// discovery_bound.hpp - how long a discovery of a subnet takes at least, counted from its graph. Knows no MAD and no
// schedule.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <vector>

namespace comad::transports::sim {

/// What bounds a discovery by SubnGets. An answer tells of a node or port that was not known before, so that queries
/// wait for answers; and only so many are under way at once.
struct discovery_limits {
    mad::duration round_trip{};   ///< of every SMP, however long its way is
    unsigned window = 0;          ///< SMPs under way; 0: any number
    unsigned per_destination = 2; ///< of these, to one node; 0: any number
};

/// The least that a discovery needs which asks each node for NodeInfo, NodeDescription, of a switch SwitchInfo and PortInfo
/// of all its ports and port 0, of any other node PortInfo of each port that a cable leads to; and which looks through
/// each cable, once, with a NodeInfo: the first through which a node is reached is the one that the node is asked for.
struct discovery_bound {
    u64 nodes = 0;     ///< that directed routes reach
    u64 smps = 0;      ///< that tell all of it
    unsigned hops = 0; ///< of the route to the farthest node

    /// Round trips, one after the other, until all is known of the node where that takes longest, over the quickest route to
    /// it. At a node on the way they are ceil(SMPs that the next hop depends on / per_destination), at the last one it is all
    /// its SMPs. Of a switch left by port p the next hop depends on
    u64 any_order = 0; ///< its NodeInfo and PortInfo p, as if somebody had told which port it is
    u64 in_order = 0;  ///< its NodeInfo and PortInfo 1 to p: ports are asked in their order. This one bounds the time
    u64 as_asked = 0;  ///< the same, but the NodeInfo comes first, as it must where nothing is asked on suspicion

    mad::duration by_depth{};  ///< in_order round trips
    mad::duration by_window{}; ///< SMPs * round_trip / min(window, nodes * per_destination)
    mad::duration time() const noexcept { return by_depth > by_window ? by_depth : by_window; }
};

/// By node: whether directed routes from `port` of a node, of a switch 0, reach it. Precondition: the node has the port.
std::vector<bool> reached_nodes(const topology&, u32 node, unsigned port);

/// From `port` of a node, of a switch 0. Precondition: the node has it.
discovery_bound bound_discovery(const topology&, u32 node, unsigned port, const discovery_limits&);

} // namespace comad::transports::sim
