// SPDX-License-Identifier: MIT
// terminal.hpp - the size of the terminal, and the width of text on it. Writes nothing.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ibtool {

/// The size of a terminal in characters.
struct terminal_size {
    std::size_t columns = 0, rows = 0; ///< 0: unlimited
};
/// Returns the size of the terminal on stdout; zeros: stdout is not a terminal, or the size is unknown.
terminal_size size_of_terminal();
/// Returns the width of help texts: that of the terminal on stdout, or 132 columns for a pager or a file.
std::size_t help_columns();

/// Returns the number of columns of a text: two for a wide character, none for a combining one. The text is UTF-8 without control
/// characters; each invalid byte counts as one column.
std::size_t columns_of(std::string_view text);
/// Returns the longest prefix that fits into this many columns, without splitting a character.
std::string_view cut_to(std::string_view text, std::size_t columns);
/// Returns the text padded with spaces to this many columns.
std::string padded(std::string text, std::size_t columns);

/// Wraps lines of help at spaces if they are longer than this; 0: no wrapping. The continuation of a description is indented to the column
/// where the description starts.
std::string wrapped(std::string_view lines, std::size_t columns);

} // namespace ibtool
