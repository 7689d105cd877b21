// SPDX-License-Identifier: MIT
// local_ports.hpp - the common part of ibstat, ibstatus and ibv_devices: texts for the values in sysfs, and JSON for devices. Sends no MAD.
#pragma once
#include "input/arguments.hpp"
#include <comad/transports/sysfs.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// The root of sysfs' device classes. A test can use another directory.
struct sysfs_root {
    std::string path = "/sys/class";
    void add_to(arguments& takes) { takes.option("--sysfs", path).shows_default(); }
};

/// Returns `Initializing`, as in infiniband-diags.
std::string format_state(comad::iba::PortState state);
/// Returns `LinkUp`, as in infiniband-diags.
std::string format_physical_state(comad::iba::PortPhysicalState state);

/// Returns the devices as one JSON object with the usual names, GUIDs with colons, and GIDs as IPv6 text.
std::string devices_json(const std::vector<comad::transports::device>& devices);

} // namespace ibtool
