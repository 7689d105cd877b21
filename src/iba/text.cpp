// SPDX-License-Identifier: MIT
// text.cpp - decodes and escapes UTF-8 from untrusted sources.
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace comad::iba {

namespace {

/// The first character of a text: its bytes, and its code point unless the byte is not UTF-8.
struct character {
    std::string_view bytes;
    char32_t code = 0;
    bool is_utf8 = false;
};

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// Removes the first character from a text that is not empty. Overlong forms, surrogates and numbers above U+10FFFF
/// are not UTF-8 (RFC 3629); the function then removes one byte.
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

/// A range of code points.
struct code_range {
    char32_t first, last;
};

/// Control characters, and characters that Unicode 15 does not show, in ascending order: Default_Ignorable_Code_Point
/// of DerivedCoreProperties.txt (including all that reorder text), line separators, annotations (U+FFF9 to U+FFFB).
constexpr code_range invisible[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/// Returns whether the character is not shown, but affects the terminal or misleads the reader.
bool is_invisible(char32_t code) {
    const auto* const range = std::ranges::lower_bound(invisible, code, {}, &code_range::last);
    return range != std::end(invisible) && range->first <= code;
}

} // namespace

std::string escaped(std::string_view raw) {
    std::string out;
    while (!raw.empty()) {
        const character c = take_character(raw);
        if (c.is_utf8 && !is_invisible(c.code)) {
            out += c.bytes;
            continue;
        }
        for (char byte : c.bytes)
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
    }
    return out;
}

std::string valid_utf8(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        const character c = take_character(raw);
        if (c.is_utf8) {
            out += c.bytes;
            continue;
        }
        const unsigned char byte = byte_at(c.bytes, 0);
        out += static_cast<char>(0xc0 | byte >> 6);
        out += static_cast<char>(0x80 | (byte & 0x3f));
    }
    return out;
}

std::string as_given(std::string_view text) {
    constexpr std::size_t longest = 60;
    return fmt::format("'{}{}'", escaped(text.substr(0, longest)), text.size() > longest ? "..." : "");
}

} // namespace comad::iba
