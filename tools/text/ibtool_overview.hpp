// SPDX-License-Identifier: MIT
// ibtool_overview.hpp - what `ibtool` says without a command: at most 15 lines, the last ones with what to type next. Reads nothing.
#pragma once
#include "text/doctor_machine.hpp"

#include <string>
#include <string_view>

namespace ibtool {

/// Its ports and who may use them, and the port that commands would use.
std::string overview_text(const machine&);
/// The same of a simulated fabric, which is named.
std::string overview_text(std::string_view fabric);

} // namespace ibtool
