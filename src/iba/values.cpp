// SPDX-License-Identifier: MIT
// values.cpp - values of single rows written into encoded structures, from text.
#include "values.hpp"

#include "names.hpp"
#include "rows.hpp"
#include <comad/iba/bits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

namespace comad::iba::detail {
namespace {

using boost::outcome_v2::success;

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// All of `text` as a number; what is larger than any field becomes the largest number, and `is_larger` true.
struct number {
    u64 value = 0;
    bool is_larger = false;
};
std::optional<number> read_digits(std::string_view text, int base) {
    number n;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n.value, base);
    if (problem == std::errc::invalid_argument || end != text.data() + text.size()) return {};
    n.is_larger = problem == std::errc::result_out_of_range;
    return n;
}

bool begins_hex(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

std::optional<number> read_number(std::string_view text) {
    return begins_hex(text) ? read_digits(text.substr(2), 16) : read_digits(text, 10);
}

std::optional<number> read_guid(std::string_view text) {
    if (begins_hex(text)) return read_number(text);
    if (text.find(':') == std::string_view::npos) return text.size() == 16 ? read_digits(text, 16) : std::nullopt;
    number whole;
    for (unsigned groups = 1; groups <= 4; ++groups) {
        const std::size_t colon = std::min(text.find(':'), text.size());
        const auto group = read_digits(text.substr(0, colon), 16);
        if (!group || colon > 4 || (colon == text.size()) != (groups == 4)) return {};
        whole.value = whole.value << 16 | group->value;
        text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return whole;
}

std::optional<gid> read_gid(std::string_view text) {
    gid g;
    const std::string terminated(text);
    if (terminated.find('\0') != std::string::npos) return {};
    if (::inet_pton(AF_INET6, terminated.c_str(), g.bytes.data()) != 1) return {};
    return g;
}

std::optional<number> read_prefix(std::string_view text) {
    if (const auto n = read_number(text)) return n;
    if (text.ends_with("/64")) text.remove_suffix(3);
    const auto g = read_gid(text);
    if (!g || value(g->interface_id()) != 0) return {};
    return number{g->prefix()};
}

std::optional<number> read_name(const row_info& row, std::string_view text) {
    for (const enum_name& candidate : row.names)
        if (candidate.name == text) return number{candidate.value};
    if (text.starts_with("?? ")) text.remove_prefix(3); // as printers show a value without a name
    return read_number(text);
}

std::optional<number> read(const row_info& row, std::string_view text) {
    switch (row.how) {
    case show::guid: return read_guid(text);
    case show::prefix: return read_prefix(text);
    case show::name: return read_name(row, text);
    default: return read_number(text);
    }
}

std::optional<std::vector<u8>> read_bytes(std::string_view text, std::size_t count) {
    if (!begins_hex(text) || text.size() != 2 + 2 * count) return {};
    std::vector<u8> bytes;
    for (text.remove_prefix(2); !text.empty(); text.remove_prefix(2)) {
        const auto byte = read_digits(text.substr(0, 2), 16);
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

/// What a text should have been.
std::string expected(const row_info& row) {
    if (row.is_blob()) return fmt::format("0x and {} hex digits", 2 * row.count);
    if (row.count > 1) return fmt::format("a list of up to {}", row.count);
    switch (row.how) {
    case show::guid: return "a GUID (0017:77ff:feb6:2ca4)";
    case show::gid: return "a GID (an IPv6 address)";
    case show::prefix: return "a GID prefix (fe80::/64)";
    case show::name: {
        std::string names;
        for (const enum_name& n : row.names) fmt::format_to(std::back_inserter(names), ", {}", n.name);
        return "an unsigned integer or one of " + names.substr(2);
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
        const auto g = read_gid(text);
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
    constexpr std::size_t longest = 60; // zeros may stand in front
    return {errc::out_of_range,
            fmt::format("{} is {}, but has {} bit{}", to.path, given.substr(0, longest), width, width == 1 ? "" : "s")};
}

error too_many(const target& to, std::size_t elements) {
    return {errc::out_of_range, fmt::format("{} has {} {}, {} were given", to.path, to.row.count,
                                            to.row.is_blob() ? "bytes" : "elements", elements)};
}

error unreadable(const target& to, std::string_view given) {
    return {errc::unreadable, fmt::format("{} is {}, expected {}", to.path, as_given(given), expected(to.row))};
}

} // namespace comad::iba::detail
