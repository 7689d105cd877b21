// SPDX-License-Identifier: MIT
// help_text.hpp - what -h and --help print, made from descriptors and command texts.
#pragma once
#include "command.hpp"
#include "command_text.hpp"

#include <string>
#include <utility>
#include <vector>

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
/// The options, or else the other arguments, that are not hidden and have a text, in the order of the text. The pointers last as long as
/// `taken` and `text`.
std::vector<std::pair<const argument*, const argument_text*>> described(const arguments& taken,
                                                                        const command_text& text, bool options);
/// Whether the help of these arguments lists the forms of targets.
bool has_target(const arguments& taken);
/// The name of an argument in plain text, for usage_of().
std::string as_declared(const std::string& name);
/// `sweep [OPTIONS] [target]`, with the arguments as `mark` writes them.
std::string usage_of(const command&, std::string (*mark)(const std::string& argument));

} // namespace ibtool
