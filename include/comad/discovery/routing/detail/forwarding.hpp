// SPDX-License-Identifier: MIT
// forwarding.hpp - the forwarding tables of all switches of a subnet, unicast and multicast, and what reads them.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/port_keys.hpp>

#include <vector>

namespace comad::discovery {

inline constexpr unsigned first_mlid = 0xc000, last_mlid = 0xfffe; ///< IBA 4.1.3
inline constexpr u8 not_forwarded = 255;                           ///< IBA 14.2.5.10

/// The tables of one switch. A byte for each LID up to the top, two for each MLID and 16 ports.
struct switch_forwarding {
    static constexpr unsigned lids_per_block = 64, mlids_per_block = 32, ports_per_mask = 16;

    std::vector<u8> unicast;           ///< [LID] up to the block of linearFDBTop
    std::vector<u16> multicast;        ///< [(MLID - first_mlid) * positions + position]: bit b: port 16 * position + b
    unsigned first_lid = 0;            ///< before it nothing was asked for
    unsigned last_lid = 0;             ///< the last one that is meant: the top, or what was asked for
    unsigned first_group = first_mlid; ///< the same of multicast
    unsigned last_group = 0;           ///< below first_mlid: none
    unsigned positions = 0;            ///< masks for each MLID: one for 16 ports, port 0 included
    std::vector<u32> missing_unicast;  ///< blocks that were not read
    std::vector<u32> missing_multicast;
    bool is_known = false; ///< its SwitchInfo, which says how long the tables are

    /// Whether the entry of that LID was read, or lies beyond the top.
    bool knows(unsigned LID) const noexcept;
    u8 out_port(unsigned LID) const noexcept { return LID < unicast.size() ? unicast[LID] : not_forwarded; }
    /// Those of ports 16 * position and up.
    u16 mask(unsigned MLID, unsigned position) const noexcept {
        const std::size_t i = std::size_t{MLID - first_mlid} * positions + position;
        return MLID >= first_mlid && position < positions && i < multicast.size() ? multicast[i] : u16{0};
    }
    bool forwards(unsigned MLID, unsigned port) const noexcept {
        return mask(MLID, port / ports_per_mask) >> port % ports_per_mask & 1;
    }
    bool complete() const noexcept { return is_known && missing_unicast.empty() && missing_multicast.empty(); }
};

struct forwarding_tables {
    std::vector<switch_forwarding> of_node; ///< [index of the node]; of what is no switch nothing
    std::vector<failure> failures;          ///< one for each switch and cause

    bool complete() const noexcept { return failures.empty(); }
    std::size_t bytes() const noexcept; ///< of all tables
};

struct forwarding_options {
    bool unicast = true, multicast = false;
    /// Of the tables only this range; 0: from the first, to the top.
    unsigned first_lid = 0, last_lid = 0, first_group = 0, last_group = 0;
    bool whole_multicast = false;         ///< up to the capacity, not only to the top
    bool by_sa = false;                   ///< SA records instead of SMPs: a table for each switch
    const mad::port_keys* keys = nullptr; ///< M_Keys; null: none. Must outlive the task
};

/// Reads the tables of all switches, each block by one SubnGet along the switch's route: only those up to linearFDBTop and
/// multicastFDBTop (where a switch does not tell the latter, to multicastFDBCap), and of multicast all positions that the
/// ports need. All switches are asked at the same time, each for one block after the other. A switch that is silent is not asked
/// further.
/// Errors: none; what could not be read is in the failures. Cancel: ends soon; the rest is a failure.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<forwarding_tables> read_forwarding(coro::MADSchedule&, const subnet&, forwarding_options = {});

} // namespace comad::discovery
