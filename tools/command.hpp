// SPDX-License-Identifier: MIT
// command.hpp - what a command is: a descriptor, and a text of the same name (command_text.hpp). Contains no single command.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"

#include <functional>
#include <span>
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
    std::string_view no_sa_reason = {};        ///< why --sa is not supported; empty: it is supported
    bool ignores_lids = false;                 ///< discovers by directed routes, because LIDs may be wrong
    bool writes = false;                       ///< to the fabric, at least with some of its options
    bool multi_fabric = false;                 ///< accepts several fabrics, see each_fabric()
    std::function<action(arguments&)> declare; ///< adds its arguments; what it returns runs when they have their values
};

/// The forms of targets and the exit status of most commands, for the help, in Markdown.
inline constexpr std::string_view target_forms =
    "A target is a LID (`7`, `0x1f`), a directed route (`0,1,4`), a GID (`fe80::2:c903:0:1491`, "
    "`fe80::2:c903:0:1491%mlx5_0/1`), a port GUID (`0002:c903:0000:1491`) or a path (`'IBPath(DLID=7, SL=1)'`, "
    "`'IBDRPath(drPath=0:1:4:)'`).";
inline constexpr std::string_view exit_codes =
    "0 complete, 1 failed or could not start, 2 usage error, 3 partial result.";

/// All of them, in the order of the help.
const std::vector<command>& all_commands();

/// The heading of a group, and its commands.
struct grouped_commands {
    std::string_view title;
    std::vector<const command*> members;
};
/// In the order in which the groups begin in all_commands().
std::vector<grouped_commands> commands_by_group();

/// Another name of a command, as infiniband-diags or scripts have it.
struct command_alias {
    std::string_view name, command;
};
/// All of them, sorted. No list of commands has them, help and the documentation do.
std::span<const command_alias> command_aliases();

/// Names of infiniband-diags' programs and scripts, of today and of its older versions, that are commands or other names here.
std::span<const std::string_view> names_of_diags();

/// By its name, or by another one. Null: there is none.
const command* find_command(std::string_view name);

/// What a program is called: its path without the directories.
constexpr std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The commands that are most like the wrong one, as `a, b, c`.
std::string commands_like(std::string_view wrong);

/// The heading of a group in the list of commands.
std::string_view title_of(command_group);

} // namespace ibtool
