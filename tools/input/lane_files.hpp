// SPDX-License-Identifier: MIT
// lane_files.hpp - service levels of paths and SL to VL tables from files, in the format that ibdmchk of ibutils reads.
#pragma once
#include <comad/discovery/routing/detail/virtual_lanes.hpp>

#include <string>

namespace ibtool {

/// Lines `NODEGUID DLID SL`: of packets from that node to that LID. A node that the subnet has not is nobody's fault.
/// Throws std::runtime_error with one line where the file is missing or wrong.
void read_path_sls(const std::string& file, const comad::discovery::subnet&, comad::discovery::virtual_lanes&);

/// Lines `NODEGUID INPORT OUTPORT 0xVV 0xVV ...`: of a switch, two VLs in each of 8 bytes, that of SL 0 first. Or what OpenSM
/// writes, opensm-sl2vl.dump.
/// Throws the same.
void read_sl_to_vl(const std::string& file, const comad::discovery::subnet&, comad::discovery::virtual_lanes&);

} // namespace ibtool
