// SPDX-License-Identifier: MIT
// terminal.hpp - how much room a terminal has, and how much a text takes there. Writes nothing.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ibtool {

struct terminal_size {
    std::size_t columns = 0, rows = 0; ///< 0: any number
};
/// Of the terminal that stdout goes to; zeros: it is none, or does not say.
terminal_size size_of_terminal();
/// Where lines of a help end: the width of the terminal that stdout goes to, or 132 columns for a pager or a file.
std::size_t help_columns();

/// How many columns a terminal takes for it: two for a wide character, none for one that is put above another. UTF-8, without
/// control characters; of what is no UTF-8 each byte is one.
std::size_t columns_of(std::string_view text);
/// As much of the beginning as fits into so many columns; never a part of a character.
std::string_view cut_to(std::string_view text, std::size_t columns);
/// Filled up with spaces to so many columns.
std::string padded(std::string text, std::size_t columns);

/// Lines of a help, broken at spaces where they are longer than that; 0: as they are. What goes on below a name and its
/// description stands below the description.
std::string wrapped(std::string_view lines, std::size_t columns);

} // namespace ibtool
