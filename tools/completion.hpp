// SPDX-License-Identifier: MIT
// completion.hpp - the words that can complete a command line, according to the commands' descriptors, and the scripts for shells that
// query them. Does not depend on a particular command.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A word that can complete a command line.
struct suggestion {
    std::string word;
    std::string meaning; ///< one line; may be empty
};

/// Returns the words that can replace the last one. `words`: the command line so far, from the name of the program, which may be the name
/// of a command. The last word is still being typed and may be empty. Suggests commands, options, values of options, attributes and
/// records. If the line names a subnet cache, also suggests LIDs, port GUIDs and names of its nodes. Returns an empty list if there is no
/// suggestion, or if the word is a file name.
std::vector<suggestion> suggestions_for(const std::vector<std::string>& words);

/// Splits a line into words as a shell does, and removes quotes and backslashes. The last word is empty if the line ends with a blank.
std::vector<std::string> words_of_line(std::string_view line);

/// Returns the script that a shell sources: `bash`, `zsh` or `fish`.
std::string completion_script(std::string_view shell);

} // namespace ibtool
