// SPDX-License-Identifier: MIT
// command_line.hpp - reads the command line by the commands' descriptors, and prints what there is to know of one.
#pragma once
#include "command.hpp"

#include <string>

namespace ibtool {

/// Reads the command line and runs what it names; gives the exit code. What a command throws is thrown.
int run_command_line(int argc, char** argv);

/// The help of one command, as `ibtool help NAME` and `ibtool NAME --help` print it.
std::string help_of(const command&);

} // namespace ibtool
