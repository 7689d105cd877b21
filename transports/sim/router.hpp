// SPDX-License-Identifier: MIT
// router.hpp - where a MAD gets to: directed routes hop by hop (IBA 14.2.2), LIDs over Active links by the forwarding
// tables that were written, and by the shortest way where none was. Knows no time and no chance.
#pragma once
#include "overrides.hpp"
#include <comad/mad/path.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <optional>
#include <vector>

namespace comad::transports::sim {

class router {
public:
    struct place {
        u32 node;
        u8 port;
    };
    /// The end of a way: node, port of arrival, and the number of cables.
    struct stop {
        u32 node;
        u8 port;
        unsigned hops;
        u8 first_port = 0;           ///< by which a LID-routed way leaves where it begins
        unsigned slowest = no_cable; ///< of its cables, in 0.1 Gb/s (rates.hpp)
    };
    static constexpr unsigned no_cable = ~0u;
    /// A directed route has a middle part by ports, and may have parts by LID before and behind it.
    struct directed_stop {
        stop end;
        u32 begin_node; ///< of the middle part
        u32 end_node;
        unsigned hops_before = 0; ///< cables before the middle part
    };

    /// Both must outlive it.
    router(const topology& t, const overrides& tables);

    /// Whether a node answers and passes directed routes on.
    void set_mute(u32 node, bool mute) noexcept { mute_[node] = mute; }
    bool is_mute(u32 node) const noexcept { return mute_[node]; }
    /// After any change of cables, states and LIDs. What follows from it is found when it is asked for: cables may flap
    /// far oftener than a MAD goes by LID.
    void topology_changed() noexcept { is_stale_ = true; }

    /// The port that has a LID; node topology::nobody if none has it.
    place owner(iba::lid LID) noexcept {
        if (is_stale_) find_owners();
        return by_lid_[value(LID)];
    }
    /// The port by which a switch forwards a LID, 0 to itself; overrides::no_port if there is none.
    u8 port_to(u32 node, iba::lid to) noexcept;
    /// A LID-routed MAD from `from`. `SL`: of a GMP; where forwarding tables were written, each port on the way drops it unless
    /// its table gives that SL an operational virtual lane (IBA 7.6.6). SMPs have a lane of their own.
    std::optional<stop> by_lid(place from, iba::lid to, std::optional<u8> SL = {}) noexcept;
    /// Whether the reply to it, sent from `at`, comes back.
    bool back_by_lid(place from, iba::lid DLID, place at, iba::lid SLID, std::optional<u8> SL = {}) noexcept;
    /// A directed-route request; fills its return path.
    std::optional<directed_stop> by_route(place from, iba::lid DLID, u8* smp) noexcept;
    /// Whether the reply to it, sent from `at`, comes back; sets its direction bit and takes its hop pointer to 0.
    bool back_by_route(place from, iba::lid DLID, const directed_stop& at, u8* smp) noexcept;

private:
    void find_owners() noexcept;
    /// The shortest ways by Active links from one origin, as forwarding tables would have them.
    struct reached {
        u32 hops;
        unsigned slowest;
        u8 arrival_port, first_port;
    };
    struct tree {
        place origin;
        std::vector<reached> nodes;
    };
    const tree& tree_from(place origin) noexcept;
    void grow(tree&) noexcept;
    std::optional<stop> shortest(place from, place target) noexcept;
    std::optional<stop> along_tables(place from, iba::lid to, place target, std::optional<u8> SL) noexcept;

    const topology& topology_;
    const overrides& tables_;
    std::vector<bool> mute_;
    bool is_stale_ = true;      // by_lid_ and the trees
    std::vector<place> by_lid_; // index: LID
    std::vector<tree> trees_;   // from the origins that were asked for last: programs at several places take turns
    std::size_t oldest_ = 0;
    std::vector<u32> queue_;
};

} // namespace comad::transports::sim
