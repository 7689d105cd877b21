// SPDX-License-Identifier: MIT
// command_text.hpp - the texts of each command and its options, from the Markdown files in commands/. Help, man pages, reference pages
// and shell completion are made from them.
#pragma once
#include "input/arguments.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The text of one argument or option. The views last as long as the program.
struct argument_text {
    std::string_view names;       ///< as declared, separated by commas: `-c,--count`
    std::string_view placeholder; ///< the name of the value: `DURATION`; empty for flags and for arguments
    std::string brief;            ///< one sentence on one line, with the default in brackets
    std::string_view details;     ///< further paragraphs in Markdown; may be empty
};

/// The text of one command. All sections are Markdown. A section that the command does not have is empty, except for `exit_status`,
/// which then contains that of most commands.
struct command_text {
    std::string_view name, summary, description, traffic, output, json, exit_status, examples, see_also;
    std::vector<argument_text> arguments; ///< most useful first

    /// Returns the text of an argument; null: the command has no text for it.
    const argument_text* find(const argument&) const;
    /// Returns the commands in the examples: the lines of `sh` blocks, and the lines after `$ ` in `console` blocks.
    std::vector<std::string_view> example_commands() const;
};

/// Returns the text of a command; with the name "ibtool" the text of the program and its options. Throws std::out_of_range if there is
/// none, which is a programming error.
const command_text& text_of_command(std::string_view name);

/// Parses a text. Throws std::logic_error if its format is wrong. If the text of an argument is missing, it is taken from `common`, the
/// arguments that several commands share.
command_text read_command_text(std::string_view markdown, const std::vector<argument_text>& common);
/// Parses the arguments of a text, for example those that several commands share.
std::vector<argument_text> read_argument_texts(std::string_view markdown);

} // namespace ibtool
