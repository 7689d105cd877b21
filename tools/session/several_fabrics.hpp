// SPDX-License-Identifier: MIT
// several_fabrics.hpp - the local ports as fabrics, and commands that run for several fabrics in turn.
#pragma once
#include "input/options.hpp"
#include "text/output.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Returns `umad:DEVICE/PORT` for each Active InfiniBand port of this machine. Throws std::runtime_error with one line if there is none.
std::vector<std::string> local_fabrics(const std::filesystem::path& classes = "/sys/class");

/// Returns the fabrics of local ports in the order in which commands prefer them: first those that are Active, or not known to be
/// inactive.
std::vector<std::string> in_order_of_use(std::vector<std::string> fabrics,
                                         const std::filesystem::path& classes = "/sys/class");

/// Runs a command for each fabric, with a fabric_label. If the options record the discovered ports, skips a local port that an earlier
/// subnet contains. An error of one fabric becomes a message, and in JSON also an object with the members `fabric` and `error`; the command
/// continues with the next fabric. Returns the exit code: that of all fabrics if it is the same, else partial. Passes on usage_error.
int run_in_turn(const std::vector<global_options>& fabrics, fabric_format,
                const std::function<int(const global_options&)>& run);

} // namespace ibtool
