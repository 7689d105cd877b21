// SPDX-License-Identifier: MIT
// subnet.hpp - the subnet database: nodes, their ports, the links between them, and what could not be learned.
// Plain data; knows no schedule and no text form.
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

/// One end of a link: a port of a node, by index and number.
struct port_ref {
    static constexpr u32 npos = ~u32{0}; ///< no node
    u32 node = npos;                     ///< index into subnet::nodes
    u8 port = 0;

    explicit operator bool() const noexcept { return node != npos; }
    friend bool operator==(const port_ref&, const port_ref&) = default;
};

/// What of a PortInfo is assumed because a topology file does not have it: a set, port::assumed.
inline constexpr u8 assumed_state = 1, assumed_lid = 2, assumed_lmc = 4;

struct port {
    std::optional<iba::smp::PortInfo> info; ///< as the node answered; nothing if it was not asked or did not answer
    iba::guid portGUID{};                   ///< of a switch's ports the switch's own
    port_ref peer;                          ///< the other end of the cable, if it answered
    bool fdr10 = false;                     ///< Mellanox ExtendedPortInfo says that this QDR link runs at FDR10
    bool fdr10_supported = false;           ///< the same of this end of a QDR link: it could
    u8 assumed = 0; ///< of `info`, in a subnet that was read from a topology file: comparisons leave it out
};

struct node {
    iba::smp::NodeInfo info; ///< as answered: portGUID and localPortNum are of the port that the route enters by
    std::string description; ///< NodeDescription as received: any bytes, made safe only where it is printed
    std::optional<iba::smp::SwitchInfo> switch_info;
    std::vector<port> ports; ///< [0..numPorts]; [0] only of switches, of other nodes only those that are cabled to us
    mad::IBDRPath route; ///< a shortest directed route from the start; beyond 63 hops it begins at the LID of a switch
    unsigned hops = 0;   ///< links on the shortest way from the start; 0 also where none leads there
    /// How much a topology file says of it; a discovery knows all. Of a node that is only the other end of links, `info` has
    /// type and nodeGUID, and numPorts is the highest port number that a link names.
    topology_file::extent known = topology_file::extent::all;

    bool is_switch() const noexcept { return info.nodeType == iba::NodeType::Switch; }
};

/// What discovery found. Nodes are in breadth-first order from the start, by port number: the same for every window.
struct subnet {
    std::vector<node> nodes; ///< [0] is where discovery started; empty only if that did not answer
    u8 start_port = 0;       ///< the local port of nodes[0]; 0 on a switch
    std::vector<failure> failures;
    std::unordered_map<iba::guid, u32> by_guid; ///< nodeGUID to index
    /// It was read from a topology file of which stanzas are damaged or left out: a node that is not here may exist.
    bool may_lack_nodes = false;

    bool complete() const noexcept { return failures.empty(); }
    const node* find(iba::guid nodeGUID) const noexcept {
        auto found = by_guid.find(nodeGUID);
        return found == by_guid.end() ? nullptr : &nodes[found->second];
    }
    /// The port of a location; port 0: the node. Invalid if the node is not in this subnet. The port number can be out of range.
    port_ref find(const location& l) const noexcept {
        const auto found = by_guid.find(l.nodeGUID);
        return found == by_guid.end() ? port_ref{} : port_ref{found->second, l.port};
    }
    /// The location of a port, by the GUID of its node; port 0: the node.
    location location_of(port_ref r) const { return {nodes[r.node].info.nodeGUID, r.port}; }
    const port& at(port_ref r) const noexcept { return nodes[r.node].ports[r.port]; }
    /// The port whose LID and state stand for the node at this end of a link: port 0 of a switch, else the port itself.
    const port& end_port(port_ref r) const noexcept {
        return nodes[r.node].is_switch() ? nodes[r.node].ports[0] : at(r);
    }
    /// The unicast LID that leads to this place; 0: none is known.
    iba::lid lid_at(port_ref) const noexcept;
    std::size_t link_count() const noexcept;
    std::size_t count(iba::NodeType) const noexcept;
    unsigned max_hops() const noexcept; ///< of the farthest node
};

/// Port 0 of a switch, or a port of another node: a port that has a LID and management agents of its own.
inline bool is_end_port(const node& n, unsigned port) noexcept { return n.is_switch() ? port == 0 : port != 0; }
/// The port has a neighbor, or its state shows that it is about to have one. Other ports have no cable.
bool is_in_use(const port&) noexcept;

/// An end port of a subnet: its management agents reply for `ports`.
struct end_port_ref {
    port_ref where;
    mad::IBPath path;      ///< to its LID
    std::vector<u8> ports; ///< those in use: of a switch all, of another node the end port itself

    bool has_lid() const noexcept { return path.DLID != iba::lid{}; }
};
/// The end ports whose PortInfo is known, in the order of the subnet; of nodes that are not switches only those in use.
std::vector<end_port_ref> end_ports(const subnet&);

/// `S-0002c90000000001`, `H-` of a CA, `R-` of a router: how topology files name a node.
std::string topology_id(const node&);
/// The same with its description, safe for a terminal: `S-0002c90000000001 "spine 1"`.
std::string name_of(const node&);
/// One line for a user: where the failure is and what it is.
std::string describe(const subnet&, const failure&);

/// The route through a port of a node to whoever is behind it: one hop longer; of the longest one the hop alone, from the node's
/// LID. Nothing: it is the longest one, and it or the start has no LID.
std::optional<mad::IBDRPath> route_beyond(const subnet&, port_ref, const mad::IBDRPath& route_to_it,
                                          iba::lid start_lid);

/// Brings the nodes into breadth-first order from nodes[0] by port number, and gives each a shortest route over the links
/// that were found; where 63 hops do not reach, one from the LID of the switch in front, if there are LIDs. Nodes without a link
/// that leads there come last, by GUID, with the route they have.
void put_in_order(subnet&);
/// The same from another node, which becomes nodes[0], and its local port. Returns how many come first, to which links lead.
u32 put_in_order(subnet&, u32 start, u8 start_port);

} // namespace comad::discovery
