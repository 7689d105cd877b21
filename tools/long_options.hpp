// SPDX-License-Identifier: MIT
// long_options.hpp - completes abbreviated long options, and moves --json after the command. Works with the descriptors and does not
// depend on a library for command lines.
#pragma once
#include "input/arguments.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Returns the arguments of a command, and replaces another name by the command's own name; null if there is no such command.
using arguments_finder = std::function<const arguments*(std::string& command)>;

/// Completes `--node-name` to `--node-name-map` if no other option starts with it, as getopt_long does. Moves a --json that precedes the
/// command to the position after the command, because each command has its own --json. All other words stay unchanged.
/// Errors: throws usage_error if several options start with the word.
std::vector<std::string> whole_words(const std::vector<std::string>& words, const arguments& global,
                                     const arguments_finder& of_command);

} // namespace ibtool
