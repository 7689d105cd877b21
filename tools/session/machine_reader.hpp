// SPDX-License-Identifier: MIT
// machine_reader.hpp - reads what `doctor` judges from sysfs and /dev. Sends no MAD, judges nothing.
#pragma once
#include "input/options.hpp"
#include "text/doctor_machine.hpp"

#include <filesystem>

namespace ibtool {

/// `classes`: sysfs' device classes, beside which it has its modules and buses. `files`: where udev makes the device files.
/// Each umad file is opened for a moment, to see whether that works; an issm file is not: it would say that a subnet manager runs.
machine read_machine(const global_options&, const std::filesystem::path& classes = "/sys/class",
                     const std::filesystem::path& files = "/dev/infiniband");

} // namespace ibtool
