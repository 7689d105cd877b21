// SPDX-License-Identifier: MIT
// run.hpp - a command beside virtual devices, from its start to its end.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

struct vumad_settings {
    std::string fabric;               ///< as --fabric has it
    std::vector<std::string> places;  ///< NODE or NODE/PORT of each device; none: where the fabric's text says
    std::vector<std::string> command; ///< a program and its arguments; none: the user's shell
    bool tells_counts = false;        ///< at the end, on stderr
    bool json = false;                ///< those, as a JSON object for each device
};

/// Gives the command's exit code; 128 + the signal that ended it; 126 if it cannot be run, 127 if it is not there. Throws
/// usage_error, std::runtime_error or std::system_error with one line.
int run_beside_devices(const vumad_settings&);

} // namespace ibtool
