// SPDX-License-Identifier: MIT
// values.cpp - parses values and writes them to single rows of encoded structures.
#include "values.hpp"

#include "names.hpp"
#include "rows.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace comad::iba::detail {
namespace {

std::optional<parsed_number> read_prefix(std::string_view text) {
    if (const auto n = parse_number(text)) return n;
    if (text.ends_with("/64")) text.remove_suffix(3);
    const auto g = parse_gid(text);
    if (!g || value(g->interface_id()) != 0) return {};
    return parsed_number{g->prefix()};
}

std::optional<parsed_number> read_name(const row_info& row, std::string_view text) {
    for (const enum_name& candidate : row.names)
        if (candidate.name == text) return parsed_number{candidate.value};
    if (text.starts_with("?? ")) text.remove_prefix(3); // printers show a value without a name as `?? 7`
    return parse_number(text);
}

std::optional<parsed_number> read(const row_info& row, std::string_view text) {
    switch (row.how) {
    case show::guid: return parse_guid_number(text);
    case show::prefix: return read_prefix(text);
    case show::name: return read_name(row, text);
    default: return parse_number(text);
    }
}

std::optional<std::vector<u8>> read_bytes(std::string_view text, std::size_t count) {
    if (!begins_hex(text) || text.size() != 2 + 2 * count) return {};
    std::vector<u8> bytes;
    for (text.remove_prefix(2); !text.empty(); text.remove_prefix(2)) {
        const auto byte = parse_digits(text.substr(0, 2), 16);
        if (!byte) return {};
        bytes.push_back(static_cast<u8>(byte->value));
    }
    return bytes;
}

result<void> set_bytes(const target& to, std::span<const u8> bytes) {
    const auto field = to.bytes.subspan(to.row.off / 8, to.row.count);
    std::fill(std::copy(bytes.begin(), bytes.end(), field.begin()), field.end(), u8{0});
    return success();
}

result<void> set_characters(const target& to, std::string_view text) {
    if (text.size() > to.row.count) return too_many(to, text.size());
    return set_bytes(to, {reinterpret_cast<const u8*>(text.data()), text.size()});
}

result<void> set_list(const target& to, std::string_view text) {
    std::string_view rest = trimmed(text);
    if (rest.starts_with('[') && rest.ends_with(']')) rest = trimmed(rest.substr(1, rest.size() - 2));
    else if (rest.empty()) return unreadable(to, text);

    const auto given = rest.empty() ? 0 : std::count(rest.begin(), rest.end(), ',') + 1;
    if (given > to.row.count) return too_many(to, static_cast<std::size_t>(given));
    clear(to);
    for (unsigned i = 0; i < given; ++i) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        if (auto done = set_text(to.element(i), trimmed(rest.substr(0, comma))); !done) return done;
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return success();
}

/// Returns which text a field accepts, for messages.
std::string expected(const row_info& row, std::string_view given) {
    if (row.is_blob()) return fmt::format("0x and {} hex digits", 2 * row.count);
    if (row.count > 1) return fmt::format("a list of up to {}", row.count);
    switch (row.how) {
    case show::guid: return "a GUID (0017:77ff:feb6:2ca4)";
    case show::gid: return "a GID (an IPv6 address)";
    case show::prefix: return "a GID prefix (fe80::/64)";
    case show::name: {
        std::vector<std::string_view> names;
        for (const enum_name& n : row.names) names.push_back(n.name);
        constexpr std::size_t most_shown = 6;
        if (names.size() <= most_shown) return fmt::format("an unsigned integer or one of {}", fmt::join(names, ", "));
        return fmt::format("an unsigned integer or a name; the nearest are {}", most_similar(given, names));
    }
    default: return "an unsigned integer";
    }
}

} // namespace

target target::element(unsigned i) const { return {bytes, element_of_row(row, i), fmt::format("{}[{}]", path, i)}; }

void clear(const target& to) {
    for (unsigned bit = to.row.off; bit < to.row.off + to.row.bits(); ++bit) put_bits_at(to.bytes.data(), bit, 1, 0);
}

result<void> set_number(const target& to, u64 n, std::string_view given) {
    if (n > low_bits(to.row.width)) return out_of_range(to, given);
    put_bits_at(to.bytes.data(), to.row.off, to.row.width, n);
    return success();
}

result<void> set_text(const target& to, std::string_view text) {
    const row_info& row = to.row;
    const bool takes_bytes = row.is_blob() || (row.count > 1 && row.width == 8);
    if (takes_bytes) {
        if (const auto bytes = read_bytes(text, row.count)) return set_bytes(to, *bytes);
    }
    if (row.how == show::text) return set_characters(to, text);
    if (row.is_blob()) return unreadable(to, text);
    if (row.count > 1) return set_list(to, text);
    if (row.how == show::gid) {
        const auto g = parse_gid(text);
        if (!g) return unreadable(to, text);
        std::copy(g->bytes.begin(), g->bytes.end(), to.bytes.begin() + row.off / 8);
        return success();
    }
    const auto n = read(row, text);
    if (!n) return unreadable(to, text);
    if (n->is_larger) return out_of_range(to, text);
    return set_number(to, n->value, text);
}

error out_of_range(const target& to, std::string_view given) {
    const unsigned width = to.row.width;
    constexpr std::size_t longest = 60; // leading zeros may make a number long
    const std::string_view what = is_key(to.row) ? "(not shown)" : given.substr(0, longest);
    return {errc::out_of_range,
            fmt::format("{}: value {} does not fit in {} bit{}", to.path, what, width, width == 1 ? "" : "s")};
}

error too_many(const target& to, std::size_t elements) {
    return {errc::out_of_range, fmt::format("{} must have at most {} {}, but got {}", to.path, to.row.count,
                                            to.row.is_blob() ? "bytes" : "elements", elements)};
}

error unreadable(const target& to, std::string_view given) {
    const std::string what = is_key(to.row) ? "(not shown)" : as_given(given);
    return {errc::unreadable, fmt::format("{} is {}, expected {}", to.path, what, expected(to.row, given))};
}

} // namespace comad::iba::detail
