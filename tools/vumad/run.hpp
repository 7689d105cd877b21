// SPDX-License-Identifier: MIT
// run.hpp - runs a command together with virtual devices.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The devices and the command.
struct vumad_settings {
    std::string fabric;               ///< as for --fabric
    std::vector<std::string> places;  ///< NODE or NODE/PORT of each device; empty: the fabric's text selects them
    std::vector<std::string> command; ///< a program and its arguments; empty: the user's shell
    bool tells_counts = false;        ///< print counts on stderr at the end
    bool json = false;                ///< print these counts as one JSON object for each device
};

/// Runs the command. Returns its exit code; 128 + the signal that ended it; 126 if it cannot be run, 127 if it does not exist. Throws
/// usage_error, std::runtime_error or std::system_error with one line.
int run_beside_devices(const vumad_settings&);

} // namespace ibtool
