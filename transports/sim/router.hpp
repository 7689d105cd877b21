// SPDX-License-Identifier: MIT
// router.hpp - routes MADs: directed routes hop by hop (IBA 14.2.2), LIDs over Active links by the written forwarding tables, or by the
// shortest path without a table. It does not depend on time or randomness.
#pragma once
#include "overrides.hpp"
#include "spread_routes.hpp"
#include <comad/mad/path.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <optional>
#include <vector>

namespace comad::transports::sim {

/// Routes MADs through a topology.
class router {
public:
    /// A port of a node.
    struct node_port {
        u32 node;
        u8 port;
    };
    /// The end of a route: node, port of arrival, and number of cables.
    struct stop {
        u32 node;
        u8 port;
        unsigned hops;
        u8 first_port = 0;           ///< the first output port of a LID-routed path
        unsigned slowest = no_cable; ///< the rate of its slowest cable, in 0.1 Gb/s (rates.hpp)
    };
    static constexpr unsigned no_cable = ~0u;
    /// The end of a directed route. The directed part may have LID-routed parts before and after it.
    struct directed_stop {
        stop end;
        u32 begin_node; ///< the node where the directed part starts
        u32 end_node;
        unsigned hops_before = 0; ///< cables before the directed part
    };

    /// Both must outlive it.
    router(const topology& t, const overrides& tables);

    /// Sets whether a node ignores all MADs and forwards no directed routes.
    void set_mute(u32 node, bool mute) noexcept { mute_[node] = mute; }
    bool is_mute(u32 node) const noexcept { return mute_[node]; }
    /// Call it after any change of cables, states or LIDs. The routes are calculated when they are needed, because
    /// cables may flap far more often than LID-routed MADs are sent.
    void topology_changed() noexcept {
        is_stale_ = true;
        if (spread_) spread_->topology_changed();
    }
    /// Uses these routes where no forwarding table was written, instead of one shortest path from each node. They must
    /// outlive it.
    void spread(spread_routes& routes) noexcept { spread_ = &routes; }

    /// Returns the port that has a LID; its node is topology::no_node if there is none.
    node_port owner(iba::lid LID) noexcept {
        if (is_stale_) find_owners();
        return by_lid_[value(LID)];
    }
    /// Returns the port through which a switch forwards a LID; 0: to itself; overrides::no_port: none.
    u8 port_to(u32 node, iba::lid to) noexcept;
    /// Returns the end of a LID-routed path from `from`. `SL`: only for GMPs. If forwarding tables were written, each
    /// port on the path drops the MAD unless its table maps the SL to an operational virtual lane (IBA 7.6.6). SMPs
    /// have their own lane.
    std::optional<stop> by_lid(node_port from, iba::lid to, std::optional<u8> SL = {}) noexcept;
    /// Returns whether the reply from `at` reaches the source.
    bool back_by_lid(node_port from, iba::lid DLID, node_port at, iba::lid SLID, std::optional<u8> SL = {}) noexcept;
    /// Returns the end of a directed-route request, and fills its return path.
    std::optional<directed_stop> by_route(node_port from, iba::lid DLID, u8* smp) noexcept;
    /// Returns whether the reply from `at` reaches the source. Sets the direction bit and decrements the hop pointer
    /// to 0.
    bool back_by_route(node_port from, iba::lid DLID, const directed_stop& at, u8* smp) noexcept;

private:
    void find_owners() noexcept;
    /// Returns whether MADs follow the forwarding tables of each switch.
    bool follows_tables() const noexcept { return spread_ || tables_.forwards(); }
    /// The shortest paths over Active links from one origin, as in forwarding tables.
    struct reached {
        u32 hops;
        unsigned slowest;
        u8 arrival_port, first_port;
    };
    struct tree {
        node_port origin;
        std::vector<reached> nodes;
    };
    const tree& tree_from(node_port origin) noexcept;
    void grow(tree&) noexcept;
    std::optional<stop> shortest(node_port from, node_port target) noexcept;
    std::optional<stop> along_tables(node_port from, iba::lid to, node_port target, std::optional<u8> SL) noexcept;

    const topology& topology_;
    const overrides& tables_;
    spread_routes* spread_ = nullptr;
    std::vector<bool> mute_;
    bool is_stale_ = true;          // by_lid_ and the trees are outdated
    std::vector<node_port> by_lid_; // index: LID
    std::vector<tree> trees_;       // trees of the most recent origins, because programs at several ports alternate
    std::size_t oldest_ = 0;
    std::vector<u32> queue_;
};

} // namespace comad::transports::sim
