// SPDX-License-Identifier: MIT
// lines.hpp - a text taken apart into lines as editors count them, without what terminals and editors add. Knows no keyword.
#pragma once
#include <string>
#include <string_view>

namespace comad::topology_file {

/// The lines of a text. Line breaks are LF, CRLF, CR CR LF (a terminal log) and CR.
class line_reader {
public:
    explicit line_reader(std::string_view text) noexcept : rest_(text) {}

    /// Moves to the next line; false after the last one.
    bool next();
    /// Without a byte-order mark at its front and blanks at either end. Outside of the name in a comment also without escape
    /// sequences of terminals, and no-break spaces are spaces.
    /// Valid until the next call of next().
    std::string_view line() const noexcept { return line_; }
    bool had_byte_order_mark() const noexcept { return had_byte_order_mark_; }
    unsigned number() const noexcept { return number_; }

private:
    std::string_view rest_, line_;
    unsigned number_ = 0;
    bool had_byte_order_mark_ = false;
    std::string cleaned_; // what line_ shows, if bytes were taken out of it
};

/// Whether most lines have an empty line after them, as CRLF becomes where each of its bytes is taken for a line break.
bool is_double_spaced(std::string_view text);

} // namespace comad::topology_file
