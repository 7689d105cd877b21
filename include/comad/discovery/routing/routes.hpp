// SPDX-License-Identifier: MIT
// routes.hpp - checks the routes of a whole subnet by its forwarding tables: unreachable destinations and their causes, forwarding
// loops, and the load of each link. Sends nothing.
#pragma once
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/routing/detail/forwarding.hpp>

#include <span>
#include <vector>

namespace comad::discovery {

/// One fault in the forwarding tables that keeps packets from reaching one or more destinations.
struct route_fault {
    enum class kind : u8 {
        no_entry, ///< the switch has no entry for the LID, or an entry with a port that does not exist
        no_link,  ///< the out-port for the LID has no cable
        /// The switch forwards the LID to a port that has another LID; port 0: it consumes packets for others.
        wrong_end,
        loop,   ///< the LID returns to the switch
        others, ///< stands for the faults beyond route_options::max_faults
    };
    kind what;
    port_ref where;               ///< the switch, and its out-port for the LID; port 0 for no_entry
    std::vector<port_ref> circle; ///< for a loop: the out-ports in the order in which a packet passes them
    std::vector<u16> lids;        ///< destinations that the fault makes unreachable from at least one port, in order
    u64 pairs = 0;                ///< unreachable pairs of a source port and a LID
};

/// The load of a channel (the outgoing direction of a port) by the routes that reach their destination.
struct channel_load {
    u32 lids = 0;   ///< destinations with at least one route through this channel
    u64 routes = 0; ///< pairs of a source port and a LID
};

/// The result of check_routes().
struct route_check {
    std::vector<route_fault> faults; ///< in the order of the destinations for which they were found
    u64 pairs = 0;                   ///< pairs of a source port and a LID of another port
    u64 unreachable = 0;             ///< pairs that a fault makes unreachable
    /// Pairs whose route needs a table that could not be read; not judged.
    u64 unknown = 0;
    /// Number of pairs by links on their route, without the link of the source.
    std::vector<u64> by_hops;
    std::vector<std::vector<channel_load>> loads; ///< by node and port; switches only

    bool is_good() const noexcept { return faults.empty(); }
};

/// Options of check_routes().
struct route_options {
    bool switches_too = false;       ///< port 0 of switches also sends and receives; otherwise only CAs and routers do
    std::size_t max_faults = 10'000; ///< faults that are listed one by one
};

/// Follows the routes from all source ports to each destination LID, through all tables at once. Time is proportional to switches
/// times LIDs. Memory: 20 bytes for each port of the subnet, in addition to the tables.
route_check check_routes(const subnet&, const lid_index&, const forwarding_tables&, route_options = {});

/// A fault in the tree of a multicast LID.
struct group_fault {
    enum class kind : u8 {
        loop, ///< a link joins switches that are already connected: packets are duplicated endlessly
        /// A switch or an end port does not receive the packets of the group, or its packets do not reach the other members.
        apart,
        dropped, ///< a switch sends to a neighbor switch that does not forward the LID
    };
    kind what;
    unsigned MLID;
    port_ref where; ///< the out-port; for apart: the switch (port 0) or the end port that is cut off
    /// For apart: the switch from which, or to which, no path leads. It is the switch with the lowest GUID among those that forward to an
    /// end port. ibdmchk of ibutils starts at the same switch.
    port_ref from{};
    bool is_reached = false; ///< for apart: packets from that switch arrive
    bool reaches = false;    ///< for apart: its packets arrive at that switch
};

/// The result of check_groups().
struct group_check {
    unsigned groups = 0;             ///< MLIDs that at least one switch forwards
    unsigned not_evaluated = 0;      ///< MLIDs for which a table could not be read
    std::vector<group_fault> faults; ///< at most max_group_faults
    std::size_t more_faults = 0;     ///< number of faults that `faults` does not contain
};
inline constexpr std::size_t max_group_faults = 10'000;

/// An end port that has joined a multicast group, according to the SA.
struct multicast_member {
    unsigned MLID;
    port_ref where;
};

/// Checks that the switches that forward a multicast LID form one tree, in which packets from each switch reach all end ports that any
/// switch forwards to. `members`: end ports that must be among these, as far as they are known.
group_check check_groups(const subnet&, const forwarding_tables&, std::span<const multicast_member> members = {});

} // namespace comad::discovery
