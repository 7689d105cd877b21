// SPDX-License-Identifier: MIT
// description.cpp - converts the text of a NodeDescription to its bytes by reversing the escapes of iba::escaped().
#include "description.hpp"

#include <comad/iba/detail/text.hpp>

#include <charconv>

namespace comad::topology_file {
namespace {

constexpr std::size_t longest = 64;

std::string without_escapes(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        unsigned byte = 0;
        const bool is_escape = text.starts_with("\\x") && text.size() >= 4 &&
                               std::from_chars(text.data() + 2, text.data() + 4, byte, 16).ptr == text.data() + 4;
        out += is_escape ? static_cast<char>(byte) : text.front();
        text.remove_prefix(is_escape ? 4 : 1);
    }
    return out;
}

} // namespace

std::string description_of(std::string_view text) {
    std::string bytes = without_escapes(text.substr(0, 4 * longest));
    if (iba::escaped(bytes) != text) bytes = text; // the backslash is part of the description, not an escape
    if (bytes.size() > longest) bytes.resize(longest);
    return bytes;
}

} // namespace comad::topology_file
