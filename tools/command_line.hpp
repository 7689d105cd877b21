// SPDX-License-Identifier: MIT
// command_line.hpp - reads the command line by the descriptors of the commands.
#pragma once

namespace ibtool {

/// Reads the command line and runs what it names; gives the exit code. What a command throws is thrown.
int run_command_line(int argc, char** argv);

} // namespace ibtool
