// SPDX-License-Identifier: MIT
// run.hpp - runs a command that sees the virtual devices.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The virtual devices, and the command to run.
struct vumad_settings {
    std::string fabric;               ///< fabric as for --fabric
    std::vector<std::string> places;  ///< NODE or NODE/PORT of each device; empty: as the fabric text selects
    std::vector<std::string> command; ///< program and arguments; empty: shell of the user
    bool prints_counts = false;       ///< print counts on stderr at the end
    bool json = false;                ///< print the counts as one JSON object for each device
};

/// Runs the command, and returns its exit status. If a signal ended the command, returns 128 plus the signal number. Returns 126 if the
/// command cannot be executed, and 127 if it does not exist. Throws usage_error, std::runtime_error or std::system_error with one line.
int run_beside_devices(const vumad_settings&);

} // namespace ibtool
