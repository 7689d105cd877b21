// SPDX-License-Identifier: MIT
// numbered_lines.cpp - splits text into lines, and removes byte-order marks and escape sequences (ECMA-48) of terminal logs.
#include "numbered_lines.hpp"

#include "cursor.hpp"

#include <algorithm>

namespace comad::topology_file {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf", no_break_space = "\xc2\xa0";
constexpr char escape = '\x1b', bell = '\a';

/// Returns the length of the escape sequence at the start of the text, which is ESC.
std::size_t sequence_length(std::string_view text) noexcept {
    if (text.size() < 2) return text.size();
    const auto until_final_byte = [&] {
        std::size_t n = 2;
        while (n < text.size() && !(text[n] >= '@' && text[n] <= '~')) ++n;
        return n < text.size() ? n + 1 : n;
    };
    if (text[1] == '[') return until_final_byte();
    if (text[1] != ']') return 2;
    const std::size_t end = text.find_first_of("\a\x1b", 2); // a window title ends with BEL or ESC backslash
    if (end == text.npos) return text.size();
    return text[end] == bell ? end + 1 : end;
}

bool needs_cleaning(std::string_view line) noexcept {
    return line.find(escape) != line.npos || line.find(no_break_space) != line.npos;
}

std::string cleaned_part(std::string_view line) {
    std::string out;
    while (!line.empty()) {
        if (line.starts_with(no_break_space)) {
            out += ' ';
            line.remove_prefix(no_break_space.size());
        } else if (line.front() == escape) {
            line.remove_prefix(sequence_length(line));
        } else {
            out += line.front();
            line.remove_prefix(1);
        }
    }
    return out;
}

/// Returns the name in a comment, from its first to its last quote, with everything between.
std::string_view name_in(std::string_view line) noexcept {
    const std::size_t hash = line.find('#'), first = line.find('"', hash == line.npos ? line.size() : hash);
    const std::size_t last = line.rfind('"');
    return first == line.npos || first == last ? std::string_view() : line.substr(first, last - first + 1);
}

std::string cleaned(std::string_view line) {
    const std::string_view name = name_in(line);
    if (name.empty()) return cleaned_part(line);
    const auto begin = static_cast<std::size_t>(name.data() - line.data());
    return cleaned_part(line.substr(0, begin)) + std::string(name) + cleaned_part(line.substr(begin + name.size()));
}

std::string_view trimmed(std::string_view line) noexcept {
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == line.npos) return {};
    return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

} // namespace

bool line_reader::next() {
    if (rest_.empty()) return false;
    ++number_;
    const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (!rest_.empty()) {
        const std::size_t behind_crs = rest_.find_first_not_of('\r');
        if (behind_crs != rest_.npos && rest_[behind_crs] == '\n') rest_.remove_prefix(behind_crs + 1);
        else rest_.remove_prefix(1);
    }
    had_byte_order_mark_ = line_.starts_with(byte_order_mark);
    if (had_byte_order_mark_) line_.remove_prefix(byte_order_mark.size());
    if (needs_cleaning(line_)) line_ = cleaned_ = cleaned(line_);
    line_ = trimmed(line_);
    return true;
}

bool is_double_spaced(std::string_view text) {
    std::size_t empty = 0, all = 0;
    for (line_reader in(text); in.next(); ++all) empty += in.line().empty();
    return empty * 20 >= all * 9;
}

} // namespace comad::topology_file
