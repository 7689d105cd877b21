// SPDX-License-Identifier: MIT
// forwarding_dump.hpp - unicast forwarding tables from a file, as dump_lfts prints them and OpenSM dumps them.
#pragma once
#include <comad/discovery/routing/detail/forwarding.hpp>

#include <string>

namespace ibtool {

/// The tables of a subnet's switches, in the format of dump_lfts (of infiniband-diags, or ours) or of OpenSM's
/// opensm-lfts.dump. LIDs that a table of the file leaves out lead nowhere; what it says twice is as the last one says. Tables of
/// multicast are passed over, and so are those of switches that the subnet has not; of a switch that the file has not there is a gap.
/// Throws std::runtime_error with one line where the file cannot be read, is wrong, or has no table of this subnet.
comad::discovery::forwarding_tables read_forwarding_dump(const std::string& file, const comad::discovery::subnet&);

} // namespace ibtool
