// SPDX-License-Identifier: MIT
// parse.hpp - numbers, GUIDs and GIDs from what users and files write. All of a text must be one; nothing throws.
// Knows no structure.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <string_view>

namespace comad::iba {

/// Without blanks and tabs in front and behind.
std::string_view trimmed(std::string_view text);

/// An unsigned number; of one that no u64 holds the largest, and `is_larger` true.
struct parsed_number {
    u64 value = 0;
    bool is_larger = false;
};
/// Digits of one base, without a prefix.
std::optional<parsed_number> parse_digits(std::string_view text, int base);
/// Decimal, or hexadecimal behind `0x`.
std::optional<parsed_number> parse_number(std::string_view text);
/// There is a `0x` in front.
bool begins_hex(std::string_view text);

/// `0017:77ff:feb6:2ca4`: four groups, in which zeros in front may be missing; or 16 hex digits.
std::optional<guid> parse_guid(std::string_view text);
/// A GUID in these forms, or behind `0x` with as many digits as it takes.
std::optional<parsed_number> parse_guid_number(std::string_view text);
/// An IPv6 address in any of its spellings.
std::optional<gid> parse_gid(std::string_view text);

} // namespace comad::iba
