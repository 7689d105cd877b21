// SPDX-License-Identifier: MIT
// doctor_checks.hpp - finds problems of a machine, and possible fixes, from facts that were read or made up.
#pragma once
#include "text/doctor_finding.hpp"
#include "text/doctor_machine.hpp"

#include <vector>

namespace ibtool {

/// Checks devices and their drivers, the module ib_umad, the files of /dev/infiniband, ports, and permissions.
std::vector<finding> check_machine(const machine&);

/// Returns whether commands can use the port: it exists, and its files can be opened.
bool can_open(const machine&);

/// Checks the local port's SMA, the SM and the SA.
std::vector<finding> check_fabric(const fabric_facts&);

/// Checks the node name map.
finding check_name_map(const name_map_facts&);

} // namespace ibtool
