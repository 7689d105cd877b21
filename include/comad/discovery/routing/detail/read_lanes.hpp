// SPDX-License-Identifier: MIT
// read_lanes.hpp - what decides about virtual lanes, from a live subnet: the SL to VL tables of its switches, and from the SA the
// service level of each path.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/routing/detail/virtual_lanes.hpp>
#include <comad/mad/error.hpp>

#include <optional>

namespace comad::discovery {

/// Puts the SL to VL tables of switches into the lanes. A port that has VL 0 alone has no table, and all SLs are on that.
void add_sl_to_vl(const subnet&, const block_table<iba::smp::SLToVLMappingTable>&, virtual_lanes&);

/// What became of the questions for SLs.
struct path_sl_report {
    u64 paths = 0;                       ///< from a port of a CA or router to a LID of another one
    u64 missing = 0;                     ///< of these, the SA told no SL: they stay on 0
    std::optional<mad::mad_error> error; ///< of the first one that is missing
};

/// Asks the SA for the SL of each path between CAs and routers: a SubnAdmGetTable of the PathRecords from each source port. An SA that
/// answers such a table by an error, or by its first part alone, is asked for each of that source's paths by a SubnAdmGet: a million in a
/// subnet of 1,000 hosts. After one that is not answered no more are asked for.
/// Errors:  what is missing is counted. Cancel: ends soon, the rest is missing.
/// Lifetime: all arguments must outlive the task.
coro::task<path_sl_report> read_path_sls(coro::MADSchedule&, const subnet&, const lid_index&, virtual_lanes&);

} // namespace comad::discovery
