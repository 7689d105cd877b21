// SPDX-License-Identifier: MIT
// forwarding_dump.hpp - reads unicast forwarding tables from a file in the format of dump_lfts or of OpenSM.
#pragma once
#include <comad/discovery/routing/detail/forwarding.hpp>

#include <string>

namespace ibtool {

/// Reads the tables of a subnet's switches, in the format of dump_lfts (infiniband-diags or ibtool) or of OpenSM's opensm-lfts.dump. LIDs
/// that are missing from a table are not forwarded; if a LID is repeated, the last line is used. Multicast tables, and tables of switches
/// that are not in the subnet, are skipped. A switch without a table in the file is a failure.
/// Errors: throws std::runtime_error with one line if the file cannot be read, is wrong, or has no table of this subnet.
comad::discovery::forwarding_tables read_forwarding_dump(const std::string& file, const comad::discovery::subnet&);

} // namespace ibtool
