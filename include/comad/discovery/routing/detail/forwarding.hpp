// SPDX-License-Identifier: MIT
// forwarding.hpp - the unicast and multicast forwarding tables of all switches of a subnet, and the task that reads them.
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

/// The forwarding tables of one switch: one byte for each LID up to the top, and two bytes for each MLID and 16 ports.
struct switch_forwarding {
    static constexpr unsigned lids_per_block = 64, mlids_per_block = 32, ports_per_mask = 16;

    std::vector<u8> unicast;           ///< [LID], up to the end of the block that contains linearFDBTop
    std::vector<u16> multicast;        ///< [(MLID - first_mlid) * positions + position]: bit b: port 16 * position + b
    unsigned first_lid = 0;            ///< LIDs below this one were not queried
    unsigned last_lid = 0;             ///< the last LID in use: the top, or the end of the queried range
    unsigned first_group = first_mlid; ///< MLIDs below this one were not queried
    unsigned last_group = 0;           ///< the last MLID in use; below first_mlid: none
    unsigned positions = 0;            ///< masks for each MLID: one for every 16 ports, including port 0
    std::vector<u32> missing_unicast;  ///< blocks that were not read
    std::vector<u32> missing_multicast;
    bool is_known = false; ///< its SwitchInfo, which has the length of the tables, is known

    /// Returns whether the entry of this LID was read, or is beyond the top.
    bool knows(unsigned LID) const noexcept;
    u8 out_port(unsigned LID) const noexcept { return LID < unicast.size() ? unicast[LID] : not_forwarded; }
    /// The port mask of an MLID for ports 16 * position to 16 * position + 15.
    u16 mask(unsigned MLID, unsigned position) const noexcept {
        const std::size_t i = std::size_t{MLID - first_mlid} * positions + position;
        return MLID >= first_mlid && position < positions && i < multicast.size() ? multicast[i] : u16{0};
    }
    bool forwards(unsigned MLID, unsigned port) const noexcept {
        return mask(MLID, port / ports_per_mask) >> port % ports_per_mask & 1;
    }
    bool complete() const noexcept { return is_known && missing_unicast.empty() && missing_multicast.empty(); }
};

/// The forwarding tables of all switches of a subnet.
struct forwarding_tables {
    std::vector<switch_forwarding> of_node; ///< by node index; empty for nodes that are not switches
    std::vector<failure> failures;          ///< one for each switch and cause

    bool complete() const noexcept { return failures.empty(); }
    std::size_t bytes() const noexcept; ///< the size of all tables
};

/// Selects which forwarding tables are read, and how.
struct forwarding_options {
    bool unicast = true, multicast = false;
    /// Read only this range of the tables; 0: from the first entry, or to the top.
    unsigned first_lid = 0, last_lid = 0, first_group = 0, last_group = 0;
    bool whole_multicast = false;         ///< read up to the capacity, not only to the top
    bool by_sa = false;                   ///< use SA records instead of SMPs: one table for each switch
    const mad::port_keys* keys = nullptr; ///< M_Keys; null: none. Must outlive the task
};

/// Reads the forwarding tables of all switches, each block by one SubnGet along the route of the switch. Reads unicast tables up to
/// linearFDBTop, and multicast tables up to multicastFDBTop (or multicastFDBCap if a switch does not report the top) for all positions
/// that its ports need. Queries all switches in parallel, and each switch for one block after the other. An unresponsive switch is not
/// queried further.
/// Errors:   none; what could not be read is in `failures`.
/// Cancel:   ends soon; the rest is a failure.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<forwarding_tables> read_forwarding(coro::MADSchedule&, const subnet&, forwarding_options = {});

} // namespace comad::discovery
