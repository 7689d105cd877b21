// SPDX-License-Identifier: MIT
// help.hpp - what is said of every command in the same way, and where --sa means nothing.
#pragma once
#include "options.hpp"

namespace ibtool {

/// Adds to the help of each command the forms of targets, if it has any, examples and the exit codes.
void complete_help(CLI::App& app);

/// Throws usage_error if the command line asks for the SA's answer of a command that asks nobody, or only nodes.
void check_SA(const CLI::App& app, const global_options&);

/// The program's commands as `a, b, c`, those like the wrong one first.
std::string commands_like(const CLI::App& app, const std::string& wrong);

} // namespace ibtool
