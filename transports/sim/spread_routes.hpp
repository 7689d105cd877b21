// SPDX-License-Identifier: MIT
// spread_routes.hpp - forwarding tables that spread routes over all shortest paths. It does not depend on MADs or on written tables.
#pragma once
#include <comad/transports/sim/detail/topology.hpp>

#include <vector>

namespace comad::transports::sim {

/// The forwarding tables of all switches. Of the ports on shortest paths to the LID of a host, a switch uses one with the fewest LIDs of
/// hosts so far, as OpenSM's routing engine minhop does; of these, the port with the fewest routes between hosts. Two ports that are on
/// shortest paths to the same LIDs therefore differ by at most one LID. LIDs of switches are spread separately. Tables are calculated when
/// they are needed.
class spread_routes {
public:
    static constexpr u8 no_port = 255;

    /// `t` must outlive it.
    explicit spread_routes(const topology& t) : topology_(t) {}
    /// Call it after any change of cables, states or LIDs.
    void topology_changed() noexcept { is_stale_ = true; }
    /// Returns the port through which a switch forwards a LID; 0: to itself; no_port: the LID has no route.
    u8 port_to(u32 node, iba::lid to);

private:
    /// A port that leads to another switch over an Active link.
    struct way {
        u8 port;
        u32 to; // number of the switch
    };
    /// A LID, and the port of the switch that it belongs to or is attached to.
    struct attached_lid {
        unsigned LID;
        u8 port;
    };
    struct forwarding_switch {
        u32 node;
        std::vector<way> ways;
        std::vector<attached_lid> hosts, own;
        std::vector<u8> table; // port by LID
    };
    /// The number of LIDs and of routes between hosts that a port forwards.
    struct port_load {
        u64 routes = 0;
        unsigned LIDs = 0;
    };
    using load_by_port = std::vector<port_load>;

    bool has_active_link(const port&) const noexcept;
    void calculate();
    void find_switches();
    void find_lids();
    void route_to(u32 number);
    void find_shortest(u32 number);
    void take_least_loaded(u32 number, const attached_lid&, std::vector<load_by_port>&);

    const topology& topology_;
    bool is_stale_ = true;
    std::vector<forwarding_switch> switches_;
    std::vector<u32> numbers_;               // number of a switch, by node
    std::vector<load_by_port> hosts_, own_;  // loads by switch and port: for LIDs of hosts and of switches
    std::vector<unsigned> hops_;             // from the present destination, by switch
    std::vector<u32> order_;                 // switches by distance from the present destination
    std::vector<std::vector<way>> shortest_; // ways towards the present destination, by switch
    std::vector<u64> routes_;                // routes to the present LID that reach a switch, by switch
};

} // namespace comad::transports::sim
