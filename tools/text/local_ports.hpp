// SPDX-License-Identifier: MIT
// local_ports.hpp - what ibstat, ibstatus and ibv_devices share: words for what sysfs says of devices, and their JSON.
// Sends no MAD.
#pragma once
#include "input/arguments.hpp"
#include <comad/transports/sysfs.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// The root of sysfs' device classes, which a test may put elsewhere.
struct sysfs_root {
    std::string path = "/sys/class";
    void add_to(arguments& takes) { takes.option("--sysfs", path).shows_default(); }
};

/// `Initializing`, as infiniband-diags say it.
std::string state_text(comad::iba::PortState state);
/// `LinkUp`, likewise.
std::string physical_state_text(comad::iba::PortPhysicalState state);

/// The devices as one JSON object: names as everywhere, GUIDs in colons, GIDs as IPv6 text.
std::string devices_json(const std::vector<comad::transports::device>& devices);

} // namespace ibtool
