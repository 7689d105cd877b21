// SPDX-License-Identifier: MIT
// command_text.hpp - the text of each command and of its options, from the Markdown files in commands/. Help, man pages, reference
// pages and completion are made from it.
#pragma once
#include "input/arguments.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The text of one argument or option. The views last as long as the program.
struct argument_text {
    std::string_view names;       ///< as declared, separated by commas: `-c,--count`
    std::string_view placeholder; ///< what stands for the value: `DURATION`; empty for flags and for arguments
    std::string brief;            ///< one sentence on one line, with the default in brackets
    std::string_view details;     ///< further paragraphs in Markdown; may be empty
};

/// The text of one command. All sections are Markdown; a section that the command does not have is empty, but
/// `exit_status` is then that of most commands.
struct command_text {
    std::string_view name, summary, description, traffic, output, json, exit_status, examples, see_also;
    std::vector<argument_text> arguments; ///< most useful first

    /// Null: the command has no text for this argument.
    const argument_text* find(const argument&) const;
    /// The commands of the examples: lines of `sh` blocks, and lines after `$ ` of `console` blocks.
    std::vector<std::string_view> example_commands() const;
};

/// The text of a command, or with the name "ibtool" of the program and its options. Throws std::out_of_range if there
/// is none, which is an error of the program.
const command_text& text_of_command(std::string_view name);

/// Reads a text; throws std::logic_error if its form is wrong. What an argument lacks is taken from `common`, the text of arguments that several commands share.
command_text read_command_text(std::string_view markdown, const std::vector<argument_text>& common);
/// Reads the arguments of a text, such as that of the arguments that several commands share.
std::vector<argument_text> read_argument_texts(std::string_view markdown);

} // namespace ibtool
