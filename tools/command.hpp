// SPDX-License-Identifier: MIT
// command.hpp - what a command is: one descriptor, from which the command line and the help are made.
// Knows none in detail.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Runs a command whose arguments were read; returns its exit code.
using action = std::function<int(const global_options&)>;

/// What the list of commands is divided by.
enum class command_group { subnet, queries, counters, checks, hosts, device, writing, measuring, offline };

struct command {
    std::string_view name;
    command_group group;
    std::string_view summary;                  ///< one line, without a full stop
    std::string_view examples;                 ///< one a line, without the program's name
    std::string_view no_SA = {};               ///< why --sa means nothing; empty: it means something
    bool writes = false;                       ///< to the fabric, at least with some of its options
    std::function<action(arguments&)> declare; ///< adds its arguments; what it returns runs when they have their values
};

/// All of them, in the order of the help.
const std::vector<command>& all_commands();

/// Null: there is none of that name.
const command* find_command(std::string_view name);

/// The commands that are most like the wrong one, as `a, b, c`.
std::string commands_like(std::string_view wrong);

/// The heading of a group in the list of commands.
std::string_view title_of(command_group);

} // namespace ibtool
