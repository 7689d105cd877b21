// SPDX-License-Identifier: MIT
// forwarding.hpp - forwarding tables as a subnet manager would calculate them: shortest paths for LIDs, and a tree for the only multicast
// group. It does not depend on MADs.
#pragma once
#include "router.hpp"

#include <array>
#include <optional>
#include <vector>

namespace comad::transports::sim {

/// Calculates the forwarding tables of all switches.
class forwarding {
public:
    static constexpr u16 linear_capacity = 0xc000;  ///< SwitchInfo.linearFDBCap
    static constexpr u16 multicast_capacity = 1024; ///< SwitchInfo.multicastFDBCap
    static constexpr u8 no_port = overrides::no_port;
    static constexpr iba::lid broadcast_mlid{0xc000};
    using port_set = std::array<u16, 16>; ///< [position], bit b: port 16 * position + b

    /// Both must outlive it.
    forwarding(const topology& t, const overrides& tables);
    /// Call it after any change of cables, states or LIDs.
    void topology_changed() noexcept;

    /// Returns the highest LID of all ports; 0: no port has a LID.
    u16 top() const noexcept;
    /// Returns the port of the subnet manager; its node is topology::no_node if there is none.
    router::node_port manager() const noexcept { return manager_; }
    /// Returns the port through which a switch forwards a LID; 0: to itself; no_port: the LID has no route.
    u8 port_to(u32 node, iba::lid to) noexcept { return router_.port_to(node, to); }
    /// Returns the ports through which a switch forwards the broadcast group.
    const port_set& broadcast_ports(u32 node);
    /// Returns the port through which the manager's SMPs arrive at a node.
    u8 port_from_manager(u32 node);
    /// Returns the router for paths between two ports, with the slowest cable in router::stop::slowest.
    router& ways() noexcept { return router_; }

private:
    void find_from_manager();
    void grow_tree();

    const topology& topology_;
    router router_;
    mutable std::optional<u16> top_; // nullopt: not calculated so far
    router::node_port manager_{topology::no_node, 0};
    std::vector<u8> from_manager_;    // port by node; empty: not calculated so far
    std::vector<port_set> broadcast_; // ports by node; empty: not calculated so far
};

} // namespace comad::transports::sim
