// SPDX-License-Identifier: MIT
// command_line.hpp - reads the command line as the descriptors of the commands define it, and runs a command.
#pragma once

namespace ibtool {

/// Reads the command line, and runs the command that it names. Returns the exit code. Passes on the exceptions of commands.
int run_command_line(int argc, char** argv);

} // namespace ibtool
