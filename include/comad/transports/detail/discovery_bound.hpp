// SPDX-License-Identifier: MIT
// discovery_bound.hpp - calculates the minimum time of a discovery from the graph of the subnet. It depends on no MAD and no schedule.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <vector>

namespace comad::transports::sim {

/// The limits of a discovery by SubnGets. Each query depends on the reply that revealed its node or port, and the
/// number of SMPs in flight is limited.
struct discovery_limits {
    mad::duration round_trip{};   ///< of every SMP, regardless of the number of hops
    unsigned window = 0;          ///< SMPs in flight; 0: unlimited
    unsigned per_destination = 2; ///< SMPs in flight to one node; 0: unlimited
};

/// The minimum cost of a discovery. The discovery queries NodeInfo and NodeDescription of each node. It queries
/// SwitchInfo and all PortInfos, including port 0, of each switch, and the PortInfo of each connected port of other
/// nodes. It also queries NodeInfo once through each cable: the first such query that reaches a node is that node's
/// NodeInfo query.
/// Lower bounds of SMPs and time.
struct discovery_bound {
    u64 nodes = 0;     ///< nodes that directed routes reach
    u64 smps = 0;      ///< SMPs that are necessary
    unsigned hops = 0; ///< hops to the most distant node

    /// Sequential round trips until the slowest node is known completely, over the fastest route to it. A node on the
    /// route needs ceil(SMPs on which the next hop depends / per_destination) round trips; the last node needs those
    /// of all its SMPs. If the route leaves a switch through port p, the next hop depends on:
    u64 any_order = 0; ///< NodeInfo and PortInfo p, as if p were known in advance
    u64 in_order = 0;  ///< NodeInfo and PortInfo 1 to p, as ports are queried in order; this value limits the time
    u64 without_speculation =
        0; ///< as in_order, but NodeInfo is queried first, as it must be without speculative queries

    mad::duration by_depth{};  ///< in_order multiplied by the round-trip time
    mad::duration by_window{}; ///< SMPs * round_trip / min(window, nodes * per_destination)
    mad::duration time() const noexcept { return by_depth > by_window ? by_depth : by_window; }
};

/// Returns for each node whether directed routes from `port` of `node` reach it. Use port 0 for a switch.
/// Precondition: the node has the port.
std::vector<bool> reached_nodes(const topology&, u32 node, unsigned port);

/// Returns the minimum cost of a discovery from `port` of `node`. Use port 0 for a switch. Precondition: the node has
/// the port.
discovery_bound bound_discovery(const topology&, u32 node, unsigned port, const discovery_limits&);

} // namespace comad::transports::sim
