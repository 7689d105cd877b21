// SPDX-License-Identifier: MIT
// help_text.hpp - what -h and --help print, made from descriptors and command texts.
#pragma once
#include "command.hpp"

#include <string>

namespace ibtool {

/// What `-h` prints: the summary, the usage, the most useful options and two examples, in at most 24 lines of 80 columns.
std::string short_help(const command&);
/// What `--help` prints: the whole text of the command, at most `columns` wide.
std::string full_help(const command&, std::size_t columns);

/// The same for the program without a command.
std::string short_help();
std::string full_help(std::size_t columns);

/// The command's arguments as it declares them, without running it.
arguments arguments_of(const command&);
/// The options for all commands.
arguments global_arguments();
/// `sweep [OPTIONS] [target]`, with the arguments as `mark` writes them.
std::string usage_of(const command&, std::string (*mark)(const std::string& argument));

} // namespace ibtool
