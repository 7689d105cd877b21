// SPDX-License-Identifier: MIT
// ibtool_overview.hpp - the output of `ibtool` without a command: at most 15 lines, the last of them with useful commands. Reads nothing.
#pragma once
#include "text/doctor_machine.hpp"

#include <string>
#include <string_view>

namespace ibtool {

/// Returns the ports, their permissions, and the port that commands would use.
std::string format_overview(const machine&);
/// Returns the overview for a simulated fabric with this name.
std::string format_overview(std::string_view fabric);

} // namespace ibtool
