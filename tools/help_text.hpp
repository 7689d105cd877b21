// SPDX-License-Identifier: MIT
// help_text.hpp - the output of -h and --help, made from descriptors and command texts.
#pragma once
#include "command.hpp"
#include "command_text.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ibtool {

/// Returns the output of `-h`: the summary, the usage, the most useful options and two examples, in at most 24 lines of 80 columns.
std::string short_help(const command&);
/// Returns the output of `--help`: the whole text of the command, at most `columns` wide.
std::string full_help(const command&, std::size_t columns);

/// Returns the help of the program without a command.
std::string short_help();
/// Returns the whole help of the program, at most `columns` wide.
std::string full_help(std::size_t columns);

/// Returns the arguments that a command declares, without running it.
arguments arguments_of(const command&);
/// Returns the options that all commands have.
arguments global_arguments();
/// Returns the options, or else the other arguments, that are not hidden and have a text, in the order of the text. The pointers are valid
/// as long as `taken` and `text`.
std::vector<std::pair<const argument*, const argument_text*>> described(const arguments& taken,
                                                                        const command_text& text, bool options);
/// Returns whether the help of these arguments lists the forms of targets.
bool has_target(const arguments& taken);
/// Returns the name of an argument in plain text, for usage_of().
std::string as_declared(const std::string& name);
/// Returns `sweep [OPTIONS] [target]`. `mark` formats each argument.
std::string usage_of(const command&, std::string (*mark)(const std::string& argument));

} // namespace ibtool
