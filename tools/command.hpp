// SPDX-License-Identifier: MIT
// command.hpp - the descriptor of a command. Its text has the same name (command_text.hpp). Does not depend on a particular command.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Runs a command after its arguments were read. Returns the exit code.
using action = std::function<int(const global_options&)>;

/// The groups in the list of commands.
enum class command_group { subnet, queries, counters, checks, hosts, device, writing, measuring, offline };

/// The descriptor of a command.
struct command {
    std::string_view name;
    command_group group;
    std::string_view no_sa_reason = {}; ///< why --sa is not supported; empty: it is supported
    bool ignores_lids = false;          ///< discovers by directed routes, because LIDs may be wrong
    bool writes = false;                ///< writes to the fabric, at least with some of its options
    bool multi_fabric = false;          ///< accepts several fabrics; see each_fabric()
    bool per_fabric = false;            ///< with several fabrics, runs for each of them in turn
    /// Declares the arguments; the returned action runs after they were read.
    std::function<action(arguments&)> declare;
};

/// The forms of targets, for the help, in Markdown.
inline constexpr std::string_view target_forms =
    "A target is a LID (`7`, `0x1f`), a directed route (`0,1,4`), a GID (`fe80::2:c903:0:1491`, "
    "`fe80::2:c903:0:1491%mlx5_0/1`), a port GUID (`0002:c903:0000:1491`) or a path (`'IBPath(DLID=7, SL=1)'`, "
    "`'IBDRPath(drPath=0:1:4:)'`).";
/// The exit status of most commands, in Markdown.
inline constexpr std::string_view exit_codes =
    "0 complete, 1 failed or could not start, 2 usage error, 3 partial result.";

/// Returns all commands, in the order of the help.
const std::vector<command>& all_commands();

/// The heading of a group, and its commands.
struct grouped_commands {
    std::string_view title;
    std::vector<const command*> members;
};
/// Returns the groups, in the order in which they first appear in all_commands().
std::vector<grouped_commands> commands_by_group();

/// Another name for a command, from infiniband-diags or for use in scripts.
struct command_alias {
    std::string_view name, command;
};
/// Returns all other names, sorted. The list of commands does not contain them; help and documentation do.
std::span<const command_alias> command_aliases();

/// Returns the names of programs and scripts of infiniband-diags, from current and older versions, that ibtool accepts as commands.
std::span<const std::string_view> names_of_diags();

/// Returns a command by its name or by another name; null if no command has the name.
const command* find_command(std::string_view name);

/// Returns the name of a program: its path without the directories.
constexpr std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the commands that are most similar to a misspelled one, as `a, b, c`.
std::string commands_like(std::string_view wrong);

/// Returns the heading of a group in the list of commands.
std::string_view title_of(command_group);

} // namespace ibtool
