// SPDX-License-Identifier: MIT
// split_text.hpp - splits, trims and converts texts.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Returns the parts between separators. Their number is one more than that of the separators.
std::vector<std::string> split(std::string_view text, char separator);

/// Returns the words of a line, which white space separates. `#` starts a comment.
std::vector<std::string> uncommented_words(std::string_view line);

/// Returns the text without white space at both ends.
std::string trimmed(std::string_view text);

/// Returns the text with ASCII capital letters replaced by small letters.
std::string to_lower(std::string_view text);

} // namespace ibtool
