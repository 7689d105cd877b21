// SPDX-License-Identifier: MIT
// parse.hpp - parses numbers, GUIDs and GIDs from the text that users and files contain. The whole text must be one
// value. No function throws. It does not depend on any structure.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <string_view>

namespace comad::iba {

/// Returns the text without leading and trailing blanks and tabs.
std::string_view trimmed(std::string_view text);

/// An unsigned number. If the number exceeds u64, the value is the largest u64, and `is_larger` is true.
struct parsed_number {
    u64 value = 0;
    bool is_larger = false;
};
/// Parses digits of one base, without a prefix.
std::optional<parsed_number> parse_digits(std::string_view text, int base);
/// Parses a decimal number, or a hexadecimal number after `0x`.
std::optional<parsed_number> parse_number(std::string_view text);
/// Returns whether the text starts with `0x`.
bool begins_hex(std::string_view text);

/// Parses a GUID: `0017:77ff:feb6:2ca4`, four groups without or with leading zeros; or 16 hex digits.
std::optional<guid> parse_guid(std::string_view text);
/// Parses a GUID in one of these forms, or as a hexadecimal number of any length after `0x`.
std::optional<parsed_number> parse_guid_number(std::string_view text);
/// Parses an IPv6 address in any notation.
std::optional<gid> parse_gid(std::string_view text);

} // namespace comad::iba
