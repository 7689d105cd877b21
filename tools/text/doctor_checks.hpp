// SPDX-License-Identifier: MIT
// doctor_checks.hpp - what is wrong with a machine, and what to do about it: of made-up facts as of those that were read.
#pragma once
#include "text/doctor_finding.hpp"
#include "text/doctor_machine.hpp"

#include <vector>

namespace ibtool {

/// Devices and their drivers, the module ib_umad, the files of /dev/infiniband, ports, and what the kernel lets through.
std::vector<finding> check_machine(const machine&);

/// Whether commands can use the port: it is there, and its files can be opened.
bool can_open(const machine&);

/// The local port's SMA, the SM and the SA.
std::vector<finding> check_fabric(const fabric_facts&);

finding check_name_map(const name_map_facts&);

} // namespace ibtool
