// SPDX-License-Identifier: MIT
// numbered_lines.hpp - splits a text into lines, numbered as in editors, and removes what terminals and editors added. It does
// not depend on keywords.
#pragma once
#include <string>
#include <string_view>

namespace comad::topology_file {

/// Reads the lines of a text. Line breaks are LF, CRLF, CR CR LF (a terminal log) and CR.
class line_reader {
public:
    explicit line_reader(std::string_view text) noexcept : rest_(text) {}

    /// Moves to the next line; returns false after the last one.
    bool next();
    /// Returns the current line, without a byte-order mark at its start and without leading and trailing blanks.
    /// Outside of the name in a comment, escape sequences of terminals are removed, and no-break spaces become spaces.
    /// Lifetime: valid until the next call of next().
    std::string_view line() const noexcept { return line_; }
    bool had_byte_order_mark() const noexcept { return had_byte_order_mark_; }
    unsigned number() const noexcept { return number_; }

private:
    std::string_view rest_, line_;
    unsigned number_ = 0;
    bool had_byte_order_mark_ = false;
    std::string cleaned_; // the text of line_, if bytes were removed from the line
};

/// Returns whether most lines are followed by an empty line. This happens to CRLF if each of its bytes becomes a line
/// break.
bool is_double_spaced(std::string_view text);

} // namespace comad::topology_file
