// SPDX-License-Identifier: MIT
// completion.hpp - what can stand at the end of a command line that is being typed, by the commands' descriptors, and what shells
// source so that they ask for it. Knows no single command.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

struct suggestion {
    std::string word;
    std::string meaning; ///< in one line; may be empty
};

/// The words that can stand in place of the last one. `words`: the command line as typed so far, from the name of the program on,
/// which may be that of a command; the last one is being typed and may be empty. Commands, options, the words that a value can
/// have, attributes and records, and of the subnet cache that the line names the LIDs, port GUIDs and names of its nodes.
/// Nothing: there is none, or it is a file.
std::vector<suggestion> suggestions_for(const std::vector<std::string>& words);

/// The words of a line as a shell takes them apart, quotes and backslashes taken away. The last one is empty where the line ends
/// with a blank.
std::vector<std::string> words_of_line(std::string_view line);

/// What this shell sources: `bash`, `zsh` or `fish`.
std::string completion_script(std::string_view shell);

} // namespace ibtool
