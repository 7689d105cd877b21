// SPDX-License-Identifier: MIT
// machine_reader.hpp - reads the facts that `doctor` checks from sysfs and /dev. Sends no MAD, and does not rate the facts.
#pragma once
#include "input/options.hpp"
#include "text/doctor_machine.hpp"

#include <filesystem>

namespace ibtool {

/// Reads the state of the machine. `classes`: the directory of sysfs' device classes; modules and buses are next to it. `files`: the
/// directory where udev creates device files. Opens each umad file briefly to see whether that works. Does not open issm files, because an
/// open issm file announces a subnet manager.
machine read_machine(const global_options&, const std::filesystem::path& classes = "/sys/class",
                     const std::filesystem::path& files = "/dev/infiniband");

} // namespace ibtool
