// SPDX-License-Identifier: MIT
// read_lanes.hpp - reads what selects virtual lanes in a live subnet: SL-to-VL tables of switches, and the SL of each path from the SA.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/discovery/routing/detail/virtual_lanes.hpp>
#include <comad/mad/error.hpp>

#include <optional>

namespace comad::discovery {

/// Adds the SL-to-VL tables of switches to the lanes. A port that supports only VL 0 has no table, and uses VL 0 for all SLs.
void add_sl_to_vl(const subnet&, const block_table<iba::smp::SLToVLMappingTable>&, virtual_lanes&);

/// The result of read_path_sls().
struct path_sl_report {
    u64 paths = 0;                       ///< from a port of a CA or router to a LID of another port
    u64 missing = 0;                     ///< paths for which the SA returned no SL; they keep SL 0
    std::optional<mad::mad_error> error; ///< the error of the first missing path
};

/// Reads the SL of each path between CAs and routers from the SA, with one SubnAdmGetTable of PathRecords for each source port. If the
/// SA replies to this with an error or with a truncated table, each path of that source port is queried by a SubnAdmGet, which is a
/// million requests in a subnet of 1,000 hosts. After a SubnAdmGet without a reply, no more of them are sent.
/// Errors:   none; missing paths are counted.
/// Cancel:   ends soon; the rest is missing.
/// Lifetime: all arguments must outlive the task.
coro::task<path_sl_report> read_path_sls(coro::MADSchedule&, const subnet&, const lid_index&, virtual_lanes&);

} // namespace comad::discovery
