// SPDX-License-Identifier: MIT
// parse.cpp - parses numbers, GUIDs and GIDs.
#include <comad/iba/parse.hpp>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>

namespace comad::iba {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<parsed_number> parse_digits(std::string_view text, int base) {
    parsed_number n;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n.value, base);
    if (problem == std::errc::invalid_argument || end != text.data() + text.size()) return {};
    n.is_larger = problem == std::errc::result_out_of_range;
    if (n.is_larger) n.value = ~u64{0};
    return n;
}

bool begins_hex(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

std::optional<parsed_number> parse_number(std::string_view text) {
    return begins_hex(text) ? parse_digits(text.substr(2), 16) : parse_digits(text, 10);
}

std::optional<guid> parse_guid(std::string_view text) {
    u64 whole = 0;
    if (text.find(':') == std::string_view::npos) {
        const auto digits = text.size() == 16 ? parse_digits(text, 16) : std::nullopt;
        if (!digits) return {};
        return guid{digits->value};
    }
    for (unsigned groups = 1; groups <= 4; ++groups) {
        const std::size_t colon = std::min(text.find(':'), text.size());
        const auto group = parse_digits(text.substr(0, colon), 16);
        if (!group || colon > 4 || (colon == text.size()) != (groups == 4)) return {};
        whole = whole << 16 | group->value;
        text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return guid{whole};
}

std::optional<parsed_number> parse_guid_number(std::string_view text) {
    if (begins_hex(text)) return parse_number(text);
    const auto g = parse_guid(text);
    if (!g) return {};
    return parsed_number{value(*g)};
}

std::optional<gid> parse_gid(std::string_view text) {
    gid g;
    const std::string terminated(text);
    if (terminated.find('\0') != std::string::npos) return {};
    if (::inet_pton(AF_INET6, terminated.c_str(), g.bytes.data()) != 1) return {};
    return g;
}

} // namespace comad::iba
