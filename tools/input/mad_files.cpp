// SPDX-License-Identifier: MIT
// mad_files.cpp - detects the format of a file from its contents, and reads the messages in it.
#include "input/mad_files.hpp"

#include "comad.hpp"
#include "input/gunzip.hpp"
#include "input/pcap.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/mad/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace ibtool {
namespace {

using comad::mad::headroom;
using comad::mad::mad_size;

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool is_capture(std::string_view text) {
    constexpr std::array<std::string_view, 5> magic_numbers{"\xa1\xb2\xc3\xd4", "\xd4\xc3\xb2\xa1", "\xa1\xb2\x3c\x4d",
                                                            "\x4d\x3c\xb2\xa1", "\x0a\x0d\x0d\x0a"};
    return std::any_of(magic_numbers.begin(), magic_numbers.end(), [&](auto magic) { return text.starts_with(magic); });
}

bool is_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 0x20 && c < 0x7f) || is_space(c); });
}

std::vector<message> read_capture(std::string& contents, const std::string& name, std::string& problem) {
    std::vector<message> messages;
    std::FILE* opened = ::fmemopen(contents.data(), contents.size(), "r");
    if (!opened) throw std::runtime_error(fmt::format("cannot read {}: out of memory", name));
    try {
        read_pcap(opened, name, [&](const captured_packet& p) {
            messages.push_back({fmt::format("packet {}{}{}", p.number, p.where.empty() ? "" : ", ", p.where),
                                {p.bytes.begin(), p.bytes.end()},
                                p.starts_with});
        });
    } catch (const std::runtime_error& e) {
        if (messages.empty()) throw;
        problem = e.what();
    }
    return messages;
}

std::vector<message> split_binary(std::string_view contents) {
    constexpr std::size_t with_header = headroom + mad_size;
    const auto has_version_at = [&](std::size_t at) { return contents.size() > at && contents[at] == 1; };
    std::size_t size = contents.size();
    if (size % with_header == 0 && has_version_at(headroom)) size = with_header;
    else if (size % mad_size == 0) size = mad_size;
    std::vector<message> messages;
    for (std::size_t at = 0; at < contents.size(); at += size) {
        const std::string_view part = contents.substr(at, size);
        messages.push_back({fmt::format("byte {}", at), {part.begin(), part.end()}});
    }
    return messages;
}

/// Parses hex digits with any spaces and an optional 0x.
std::vector<u8> parse_hex(std::string_view text) {
    std::vector<u8> bytes;
    unsigned digits = 0, value = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_space(text[i])) {
            continue;
        }
        if (digits == 0 && text[i] == '0' && i + 1 < text.size() && (text[i + 1] == 'x' || text[i + 1] == 'X')) {
            ++i;
            continue;
        }
        if (!is_hex(text[i])) {
            throw std::runtime_error(fmt::format("'{}' is not a hex digit", comad::iba::escaped(text.substr(i, 1))));
        }
        const int c = std::tolower(static_cast<unsigned char>(text[i]));
        value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
        if (++digits < 2) continue;
        bytes.push_back(static_cast<u8>(value));
        digits = value = 0;
    }
    if (digits > 0) throw std::runtime_error("the number of hex digits is odd; each byte needs two");
    return bytes;
}

/// Returns the hex digits of a line, without offset, characters and comment.
std::string_view digits_of(std::string_view line) {
    line = line.substr(0, std::min(line.find('#'), line.find('|')));
    std::size_t offset = 0;
    while (offset < line.size() && is_hex(line[offset])) ++offset;
    if (offset < line.size() && line[offset] == ':') { // xxd: the characters follow two spaces
        line.remove_prefix(std::min(offset + 2, line.size()));
        return line.substr(0, line.find("  "));
    }
    if (offset == 8 && line.substr(offset).starts_with("  ")) line.remove_prefix(offset); // hexdump -C
    return line;
}

std::string_view without_spaces_in_front(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

/// Parses bytes in the syntax of C and Python: "\x01\x1a", '...', b'...'.
bool is_quoted(std::string_view text) {
    text = without_spaces_in_front(text);
    if (text.starts_with('b')) text.remove_prefix(1);
    return text.starts_with('"') || text.starts_with('\'');
}

/// Parses up to `most` digits to a byte, and removes them from the text.
u8 take_digits(std::string_view& text, int base, std::size_t most) {
    unsigned value = 0;
    const std::string_view digits = text.substr(0, most);
    const char* const end = std::from_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    if (end == digits.data() || value > 255)
        throw std::runtime_error("invalid escape sequence in quoted text; expected one byte, such as \\x1a or \\032");
    text.remove_prefix(static_cast<std::size_t>(end - digits.data()));
    return static_cast<u8>(value);
}

/// Parses the escape after a backslash, and removes it from the text.
u8 take_escape(std::string_view& text) {
    constexpr std::string_view letters = "abfnrtv\\'\"", bytes = "\a\b\f\n\r\t\v\\'\"";
    if (!text.empty() && text[0] >= '0' && text[0] <= '7') return take_digits(text, 8, 3);
    const char letter = text.empty() ? '\0' : text[0];
    text.remove_prefix(std::min<std::size_t>(1, text.size()));
    if (letter == 'x') return take_digits(text, 16, 2);
    const std::size_t at = letters.find(letter);
    if (at == letters.npos)
        throw std::runtime_error(
            "unknown escape sequence in quoted text; expected an escape sequence of C, such as \\x1a, \\032 or \\n");
    return static_cast<u8>(bytes[at]);
}

/// Parses one quoted text, or several with only spaces between them.
std::vector<u8> parse_quoted(std::string_view text) {
    std::vector<u8> bytes;
    for (text = without_spaces_in_front(text); is_quoted(text); text = without_spaces_in_front(text)) {
        text.remove_prefix(text[0] == 'b' ? 1 : 0);
        const char quote = text[0];
        text.remove_prefix(1);
        while (!text.empty() && text[0] != quote) {
            const char c = text[0];
            text.remove_prefix(1);
            bytes.push_back(c == '\\' ? take_escape(text) : static_cast<u8>(c));
        }
        if (text.empty()) throw std::runtime_error("the closing quote is missing");
        text.remove_prefix(1);
    }
    if (text.find_first_not_of(" \t\r") != text.npos)
        throw std::runtime_error(fmt::format("unexpected {} after quoted text", comad::iba::as_given(text)));
    return bytes;
}

std::vector<message> read_hex(std::string_view text, const std::string& name) {
    std::vector<message> messages;
    bool is_open = false; // further lines may belong to the last message
    for (std::size_t number = 1, at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        const std::string where = fmt::format("line {}", number);
        std::vector<u8> bytes;
        try {
            bytes = is_quoted(line) ? parse_quoted(line) : parse_hex(digits_of(line));
        } catch (const std::runtime_error& e) {
            throw std::runtime_error(fmt::format("{}, {}: {}", name, where, e.what()));
        }
        if (bytes.empty()) {
            const bool is_comment = line.find('#') != line.npos;
            is_open = is_open && is_comment;
            continue;
        }
        if (!is_open) messages.push_back({where, {}});
        is_open = bytes.size() < mad_size;
        auto& all = messages.back().bytes;
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return messages;
}

} // namespace

std::vector<u8> parse_bytes(std::string_view text) { return is_quoted(text) ? parse_quoted(text) : parse_hex(text); }

std::string read_file(const std::string& file) {
    if (file != "-") return comad::iba::read_bytes(file);
    try {
        return comad::iba::bytes_in(STDIN_FILENO);
    } catch (const std::runtime_error& e) {
        throw std::runtime_error(fmt::format("cannot read the standard input: {}", e.what()));
    }
}

std::vector<message> read_messages(const std::string& file, std::string& problem) {
    return messages_in(read_file(file), file == "-" ? "the standard input" : "'" + comad::iba::escaped(file) + "'",
                       problem);
}

namespace {

std::vector<message> messages_in_plain(std::string contents, const std::string& name, std::string& problem) {
    if (contents.empty()) throw std::runtime_error(fmt::format("{} is empty", name));
    if (is_capture(contents)) return read_capture(contents, name, problem);
    if (!is_text(contents)) return split_binary(contents);
    auto messages = read_hex(contents, name);
    if (messages.empty()) throw std::runtime_error(fmt::format("{} contains no hex digits", name));
    return messages;
}

} // namespace

std::vector<message> messages_in(std::string contents, const std::string& name, std::string& problem) {
    if (!is_gzipped(contents)) return messages_in_plain(std::move(contents), name, problem);
    std::string damage;
    contents = gunzip(contents, damage);
    if (!damage.empty()) damage = fmt::format("{}: {}", name, damage);
    if (!damage.empty() && !is_capture(contents)) throw std::runtime_error(damage);
    std::vector<message> messages = messages_in_plain(std::move(contents), name, problem);
    if (!damage.empty()) problem = damage; // the reason why the capture ends
    return messages;
}

} // namespace ibtool
