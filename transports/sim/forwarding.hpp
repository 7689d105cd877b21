// SPDX-License-Identifier: MIT
// forwarding.hpp - what a subnet manager would put into the forwarding tables of switches: the shortest ways for LIDs, a
// tree for the one multicast group. Knows no MAD.
#pragma once
#include "router.hpp"

#include <array>
#include <optional>
#include <vector>

namespace comad::transports::sim {

class forwarding {
public:
    static constexpr u16 linear_capacity = 0xc000;  ///< SwitchInfo.linearFDBCap
    static constexpr u16 multicast_capacity = 1024; ///< SwitchInfo.multicastFDBCap
    static constexpr u8 no_port = overrides::no_port;
    static constexpr iba::lid broadcast_mlid{0xc000};
    using port_set = std::array<u16, 16>; ///< [position], bit b: port 16 * position + b

    /// Both must outlive it.
    forwarding(const topology& t, const overrides& tables);
    /// After any change of cables, states and LIDs.
    void topology_changed() noexcept;

    /// The highest LID that a port has; 0: none has one.
    u16 top() const noexcept;
    /// The node of the subnet manager, topology::nobody if there is none.
    router::place manager() const noexcept { return manager_; }
    /// The port by which a switch forwards a LID, 0 to itself; no_port if there is no way.
    u8 port_to(u32 node, iba::lid to) noexcept { return router_.port_to(node, to); }
    /// The ports by which a switch forwards the broadcast group.
    const port_set& broadcast_ports(u32 node);
    /// The port by which the manager's SMPs come to a node.
    u8 port_from_manager(u32 node);
    /// The way between two ports; its slowest cable is in the router's `slowest`.
    router& ways() noexcept { return router_; }

private:
    void find_from_manager();
    void grow_tree();

    const topology& topology_;
    router router_;
    mutable std::optional<u16> top_; // nothing: not found yet
    router::place manager_{topology::nobody, 0};
    std::vector<u8> from_manager_;    // by node; empty: not found yet
    std::vector<port_set> broadcast_; // by node; empty: not found yet
};

} // namespace comad::transports::sim
