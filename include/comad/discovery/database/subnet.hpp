// SPDX-License-Identifier: MIT
// subnet.hpp - the subnet database: nodes, their ports, the links between ports, and failures. Plain data; does not depend on a
// schedule or on a text format.
#pragma once
#include <comad/discovery/database/failure.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/path.hpp>
#include <comad/topology_file/detail/read.hpp>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace comad::discovery {

/// A port of a node, by node index and port number. Names one end of a link.
struct port_ref {
    static constexpr u32 npos = ~u32{0}; ///< no node
    u32 node = npos;                     ///< index into subnet::nodes
    u8 port = 0;

    explicit operator bool() const noexcept { return node != npos; }
    friend bool operator==(const port_ref&, const port_ref&) = default;
};

/// Bits of port::assumed: which fields of a PortInfo are assumptions, because a topology file does not contain them.
inline constexpr u8 assumed_state = 1, assumed_lid = 2, assumed_lmc = 4;

/// A port of a node, with its PortInfo and its neighbor.
struct port {
    std::optional<iba::smp::PortInfo> info; ///< the reply of the node; nullopt: not queried, or no reply
    iba::guid portGUID{};                   ///< the port GUID; a switch has one for all its ports
    port_ref peer;                          ///< the neighbor, if it replied
    /// The link is QDR according to PortInfo, and runs at FDR10 according to Mellanox ExtendedPortInfo.
    bool fdr10 = false;
    /// This end of a QDR link supports FDR10 according to Mellanox ExtendedPortInfo.
    bool fdr10_supported = false;
    /// Bits assumed_...: fields of `info` that a topology file does not contain; comparisons ignore them.
    u8 assumed = 0;
};

/// A channel adapter, switch or router.
struct node {
    /// As received: portGUID and localPortNum belong to the port where the route enters the node.
    iba::smp::NodeInfo info;
    std::string description; ///< NodeDescription as received: any bytes; escaped only when printed
    std::optional<iba::smp::SwitchInfo> switch_info;
    /// [0..numPorts]; [0] is used for switches only; other nodes have only the ports with a link to this subnet.
    std::vector<port> ports;
    mad::IBDRPath route; ///< a shortest directed route from the start; beyond 63 hops it starts at the LID of a switch
    unsigned hops = 0;   ///< links on the shortest path from the start; also 0 if no path leads there
    /// How much of this node a topology file contains; `all` after a discovery. For a node that appears only as the neighbor of others,
    /// `info` has the type and the nodeGUID, and numPorts is the highest port number that a link names.
    topology_file::extent known = topology_file::extent::all;

    bool is_switch() const noexcept { return info.nodeType == iba::NodeType::Switch; }
};

/// The result of a discovery. Nodes are in breadth-first order from the start, by port number, whatever the window was.
struct subnet {
    std::vector<node> nodes; ///< [0] is the node where the discovery started; empty only if that node did not reply
    u8 start_port = 0;       ///< the local port on nodes[0]; 0 on a switch
    std::vector<failure> failures;
    std::unordered_map<iba::guid, u32> by_guid; ///< nodeGUID to index
    /// The subnet was read from a topology file with damaged or missing stanzas: nodes that are not in this subnet may exist.
    bool may_lack_nodes = false;

    /// Returns whether the subnet has no failures.
    bool complete() const noexcept { return failures.empty(); }
    /// The node with this nodeGUID; null if there is none.
    const node* find(iba::guid nodeGUID) const noexcept {
        auto found = by_guid.find(nodeGUID);
        return found == by_guid.end() ? nullptr : &nodes[found->second];
    }
    /// The port of a location; port 0: the node. Invalid if the node is not in this subnet. The port number may be out of range.
    port_ref find(const location& l) const noexcept {
        const auto found = by_guid.find(l.nodeGUID);
        return found == by_guid.end() ? port_ref{} : port_ref{found->second, l.port};
    }
    /// The location of a port: nodeGUID and port number; port 0: the node.
    location location_of(port_ref r) const { return {nodes[r.node].info.nodeGUID, r.port}; }
    const port& at(port_ref r) const noexcept { return nodes[r.node].ports[r.port]; }
    /// The end port of a port: port 0 of a switch, else the port itself. It has the LID and the state of the node at this end of a link.
    const port& end_port(port_ref r) const noexcept {
        return nodes[r.node].is_switch() ? nodes[r.node].ports[0] : at(r);
    }
    /// The unicast LID that leads to this port; 0: none is known.
    iba::lid lid_at(port_ref) const noexcept;
    std::size_t link_count() const noexcept;
    std::size_t count(iba::NodeType) const noexcept;
    unsigned max_hops() const noexcept; ///< hops to the farthest node
};

/// Returns whether a port has its own LID and management agents: port 0 of a switch, or a port of another node.
inline bool is_end_port(const node& n, unsigned port) noexcept { return n.is_switch() ? port == 0 : port != 0; }
/// Returns whether a port has a neighbor, or a state that shows that it will soon have one. Other ports have no cable.
bool is_in_use(const port&) noexcept;

/// An end port of a subnet, and the ports for which its management agents reply.
struct end_port_ref {
    port_ref where;
    mad::IBPath path;      ///< the path to its LID
    std::vector<u8> ports; ///< ports in use: all ports of a switch; for other nodes, only the end port

    bool has_lid() const noexcept { return path.DLID != iba::lid{}; }
};
/// Returns the end ports whose PortInfo is known, in the order of the subnet. For nodes that are not switches, only ports in use.
std::vector<end_port_ref> end_ports(const subnet&);

/// The name of a node in topology files: `S-0002c90000000001`; `H-` for a CA, `R-` for a router.
std::string topology_id(const node&);
/// topology_id() and the description, safe for a terminal: `S-0002c90000000001 "spine 1"`.
std::string name_of(const node&);
/// Describes a failure in one line for users: its location and its cause.
std::string describe(const subnet&, const failure&);

/// Returns the route to the neighbor of a port: `route_to_it` plus one hop. If `route_to_it` has the maximum length, the new route starts
/// at the LID of the node and has one hop. Returns nullopt if that is necessary and the node or the start has no LID.
std::optional<mad::IBDRPath> route_beyond(const subnet&, port_ref, const mad::IBDRPath& route_to_it,
                                          iba::lid start_lid);

/// Sorts the nodes in breadth-first order from nodes[0], by port number, and sets a shortest route for each. Beyond 63 hops, the route
/// starts at the LID of the switch in front, if LIDs are assigned. Nodes that no link leads to come last, sorted by GUID, and keep
/// their routes.
void put_in_order(subnet&);
/// Sorts the nodes from another node and its local port; that node becomes nodes[0]. Returns the number of nodes that links lead to.
u32 put_in_order(subnet&, u32 start, u8 start_port);

} // namespace comad::discovery
