// SPDX-License-Identifier: MIT
// lane_files.hpp - reads service levels of paths and SL-to-VL tables from files in the format of ibdmchk (ibutils).
#pragma once
#include <comad/discovery/routing/detail/virtual_lanes.hpp>

#include <string>

namespace ibtool {

/// Reads lines `NODEGUID DLID SL`: the SL of packets from that node to that LID. Nodes that are not in the subnet are ignored.
/// Errors: throws std::runtime_error with one line if the file is missing or wrong.
void read_path_sls(const std::string& file, const comad::discovery::subnet&, comad::discovery::virtual_lanes&);

/// Reads lines `NODEGUID INPORT OUTPORT 0xVV 0xVV ...` of a switch: 8 bytes with two VLs each, starting with SL 0. Also reads OpenSM's
/// format, opensm-sl2vl.dump.
/// Errors: as read_path_sls().
void read_sl_to_vl(const std::string& file, const comad::discovery::subnet&, comad::discovery::virtual_lanes&);

} // namespace ibtool
