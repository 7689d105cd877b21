// SPDX-License-Identifier: MIT
// routes.hpp - where the forwarding tables of a whole subnet lead: what cannot be reached and why, packets that go round in
// circles, and how the routes share the links. Asks nobody.
#pragma once
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/routing/detail/forwarding.hpp>

#include <span>
#include <vector>

namespace comad::discovery {

/// Something in the tables that keeps packets from their destination: one, for however many destinations.
struct route_fault {
    enum class kind : u8 {
        no_entry,  ///< the switch has no out-port for the LID, or one that it has not
        no_link,   ///< it sends the LID by a port without a cable
        wrong_end, ///< it sends the LID to a port that has another one; port 0: it keeps packets that are not for it
        loop,      ///< the LID comes back to the switch
        others,    ///< more faults than are told one by one
    };
    kind what;
    port_ref where;               ///< the switch, and its out-port for the LID; of no_entry port 0
    std::vector<port_ref> circle; ///< of a loop: its out-ports in the order in which a packet takes them
    std::vector<u16> lids;        ///< destinations that this cuts off from somebody, in order
    u64 pairs = 0;                ///< of a source port and a LID that are cut
};

/// What the routes that reach their end make of a channel: a port, outwards.
struct channel_load {
    u32 lids = 0;   ///< destinations to which some route passes here
    u64 routes = 0; ///< pairs of a source port and a LID
};

struct route_check {
    std::vector<route_fault> faults;              ///< in the order of the destinations that they were met with
    u64 pairs = 0;                                ///< of a source port and a LID of another port
    u64 unreachable = 0;                          ///< of these, cut by a fault
    u64 unknown = 0;                              ///< of these, on whose way a table could not be read: not judged
    std::vector<u64> by_hops;                     ///< pairs by the links on their route, but the source's own
    std::vector<std::vector<channel_load>> loads; ///< [node][port]; only of switches

    bool is_good() const noexcept { return faults.empty(); }
};

struct route_options {
    bool switches_too = false;       ///< port 0 of switches sends and receives, too; else only CAs and routers do
    std::size_t max_faults = 10'000; ///< told one by one
};

/// Follows the way of each destination LID from each source port by all tables at once: as many steps as there are
/// switches times LIDs. Needs 20 bytes for each port of a subnet beside the tables.
route_check check_routes(const subnet&, const lid_index&, const forwarding_tables&, route_options = {});

/// Something wrong with the tree of a multicast LID.
struct group_fault {
    enum class kind : u8 {
        loop, ///< a link joins what is joined already: packets are doubled without end
        apart, ///< a switch or an end port that packets of the group do not reach, or whose packets do not reach the others
        dropped, ///< a switch sends to another one that does not forward the LID
    };
    kind what;
    unsigned MLID;
    port_ref where; ///< the out-port; of apart the switch (port 0) or the end port that is cut off
    /// Of apart: the switch from which, or to which, there is no way. It is the one with the lowest GUID among those that
    /// forward to an end port, where ibdmchk of ibutils starts, too.
    port_ref from{};
    bool is_reached = false; ///< of apart: packets from there arrive
    bool reaches = false;    ///< of apart: its packets arrive there
};

struct group_check {
    unsigned groups = 0;             ///< MLIDs that some switch forwards
    unsigned not_judged = 0;         ///< MLIDs of which a table could not be read
    std::vector<group_fault> faults; ///< at most max_group_faults
    std::size_t more_faults = 0;     ///< beyond these
};
inline constexpr std::size_t max_group_faults = 10'000;

/// An end port that joined a group, as the SA says.
struct multicast_member {
    unsigned MLID;
    port_ref where;
};

/// Each multicast LID must make one tree of the switches that forward it, in which packets from each switch reach all end ports that
/// some switch forwards to. `members`: must be among these, as far as they are known.
group_check check_groups(const subnet&, const forwarding_tables&, std::span<const multicast_member> members = {});

} // namespace comad::discovery
