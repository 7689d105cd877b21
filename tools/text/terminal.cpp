// SPDX-License-Identifier: MIT
// terminal.cpp - counts the columns of text with the functions of the C library, and wraps lines.
#include "text/terminal.hpp"

#include <algorithm>
#include <clocale>
#include <cwchar>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ibtool {

terminal_size size_of_terminal() {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
    return {size.ws_col, size.ws_row};
}

std::size_t help_columns() {
    constexpr std::size_t without_terminal = 132; // a common width of wide terminals
    const std::size_t columns = size_of_terminal().columns;
    return columns != 0 ? columns : without_terminal;
}

namespace {

/// Sets the character encoding of this thread to UTF-8 during its lifetime, whatever the user's locale is.
class in_utf8 {
public:
    in_utf8() : before_(::uselocale(UTF8())) {}
    ~in_utf8() { ::uselocale(before_); }
    in_utf8(const in_utf8&) = delete;
    in_utf8& operator=(const in_utf8&) = delete;

private:
    static locale_t UTF8() {
        static const locale_t made = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr); // null changes nothing
        return made;
    }
    locale_t before_;
};

/// The size of a text.
struct measured {
    std::size_t bytes, columns;
};

/// Measures the first character. Precondition: the text is not empty.
measured first_of(std::string_view text) {
    wchar_t character = 0;
    std::mbstate_t state{};
    const std::size_t bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
    if (bytes == 0 || bytes > text.size()) return {1, 1};
    const int columns = ::wcwidth(character);
    return {bytes, columns < 0 ? 1u : static_cast<std::size_t>(columns)};
}

} // namespace

std::size_t columns_of(std::string_view text) {
    const in_utf8 here;
    std::size_t columns = 0;
    while (!text.empty()) {
        const measured c = first_of(text);
        columns += c.columns;
        text.remove_prefix(c.bytes);
    }
    return columns;
}

std::string_view cut_to(std::string_view text, std::size_t columns) {
    const in_utf8 here;
    std::size_t used = 0, bytes = 0;
    while (bytes < text.size()) {
        const measured c = first_of(text.substr(bytes));
        if (used + c.columns > columns) break;
        used += c.columns;
        bytes += c.bytes;
    }
    return text.substr(0, bytes);
}

std::string padded(std::string text, std::size_t columns) {
    const std::size_t used = columns_of(text);
    return used < columns ? text.append(columns - used, ' ') : text;
}

namespace {

/// Returns the indentation of the continuation lines: the column of the description that follows a name and two spaces, or else the
/// indentation of the line.
std::size_t indent_of(std::string_view line, std::size_t columns) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.find("  ", begin);
    const std::size_t behind = gap == line.npos ? line.npos : line.find_first_not_of(' ', gap);
    const std::size_t indent = behind == line.npos ? begin : behind;
    return indent <= columns / 2 ? indent : std::min<std::size_t>(begin + 2, columns / 2);
}

void add_wrapped(std::string& out, std::string_view line, std::size_t columns) {
    const std::size_t indent = indent_of(line, columns);
    std::string_view rest = line;
    for (std::size_t used = 0; used + rest.size() > columns;) {
        const std::size_t room = columns - used;
        std::size_t end = rest.rfind(' ', room);
        const std::size_t first = rest.find_first_not_of(' ');
        if (end == rest.npos || end <= first) end = rest.find(' ', first); // the word is longer than a line
        if (end == rest.npos) break;
        std::string_view taken = rest.substr(0, end);
        taken = taken.substr(0, taken.find_last_not_of(' ') + 1);
        out.append(taken).append("\n").append(indent, ' ');
        rest = rest.substr(std::min(rest.find_first_not_of(' ', end), rest.size()));
        used = indent;
    }
    out.append(rest);
}

} // namespace

std::string wrapped(std::string_view lines, std::size_t columns) {
    if (columns == 0) return std::string(lines);
    std::string out;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        add_wrapped(out, lines.substr(0, end), std::max<std::size_t>(columns, 20));
        if (end < lines.size()) out += '\n';
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return out;
}

} // namespace ibtool
