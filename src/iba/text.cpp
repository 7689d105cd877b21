// SPDX-License-Identifier: MIT
// text.cpp - UTF-8 as strangers send it, taken apart and escaped.
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace comad::iba {

namespace {

/// The first character of a text: its bytes, and its code point unless the byte is no UTF-8.
struct character {
    std::string_view bytes;
    char32_t code = 0;
    bool is_utf8 = false;
};

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// Takes the first character from a text that is not empty. Overlong forms, surrogates and numbers above U+10FFFF are
/// no UTF-8 (RFC 3629); of those one byte is taken.
character take_character(std::string_view& text) {
    const unsigned char first = byte_at(text, 0);
    const unsigned length = first < 0x80   ? 1
                            : first < 0xc0 ? 0
                            : first < 0xe0 ? 2
                            : first < 0xf0 ? 3
                            : first < 0xf8 ? 4
                                           : 0;
    constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};

    bool ok = length > 0 && length <= text.size();
    char32_t code = length <= 1 ? first : first & (0x7fu >> length);
    for (unsigned i = 1; ok && i < length; ++i) {
        ok = (byte_at(text, i) & 0xc0) == 0x80;
        code = code << 6 | (byte_at(text, i) & 0x3f);
    }
    ok = ok && code >= smallest[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);

    const character result{text.substr(0, ok ? length : 1), code, ok};
    text.remove_prefix(result.bytes.size());
    return result;
}

/// Characters that do something to a terminal instead of being shown.
bool is_control(char32_t code) {
    const bool c0_or_c1 = code < 0x20 || (code >= 0x7f && code <= 0x9f);
    const bool separates_lines = code == 0x2028 || code == 0x2029;
    const bool reorders = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return c0_or_c1 || separates_lines || reorders;
}

} // namespace

std::string escaped(std::string_view raw) {
    std::string out;
    while (!raw.empty()) {
        const character c = take_character(raw);
        if (c.is_utf8 && !is_control(c.code)) {
            out += c.bytes;
            continue;
        }
        for (char byte : c.bytes)
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
    }
    return out;
}

std::string json_quoted(std::string_view raw) {
    std::string out = "\"";
    while (!raw.empty()) {
        const character c = take_character(raw);
        if (!c.is_utf8) fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte_at(c.bytes, 0));
        else if (is_control(c.code))
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c.code));
        else {
            if (c.code == U'"' || c.code == U'\\') out += '\\';
            out += c.bytes;
        }
    }
    return out + '"';
}

std::string as_given(std::string_view text) {
    constexpr std::size_t longest = 60;
    return fmt::format("'{}{}'", escaped(text.substr(0, longest)), text.size() > longest ? "..." : "");
}

} // namespace comad::iba
