// SPDX-License-Identifier: MIT
// long_options.hpp - the words of a command line, made what the descriptors say: beginnings of long options made whole, --json put
// behind the command. Knows no library for command lines.
#pragma once
#include "input/arguments.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// The arguments of a command by its name, which instead of another one becomes its own; null: there is no such command.
using arguments_finder = std::function<const arguments*(std::string& command)>;

/// `--node-name` becomes `--node-name-map` where no other option begins like that, as getopt_long takes it; a --json before the
/// command stands behind it, where each command has its own. All else stays as it is.
/// Throws usage_error where a beginning is that of several options.
std::vector<std::string> whole_words(const std::vector<std::string>& words, const arguments& global,
                                     const arguments_finder& of_command);

} // namespace ibtool
