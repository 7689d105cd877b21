// SPDX-License-Identifier: MIT
// file_members.cpp - reads the members of one table of a file.
#include "file_members.hpp"

#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

namespace comad::iba::detail {
namespace {

bool is_member_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !name.empty() && is_letter(name.front()) &&
           std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

} // namespace

file_members::file_members(const std::string& file, const file_value& table, std::string what,
                           std::vector<std::string_view> known)
    : file_(file), table_(table), what_(std::move(what)) {
    const auto* all = table.as<file_value::table>();
    if (!all) fail(table, fmt::format("must be a table with the members {}", fmt::join(known, ", ")));
    for (const file_member& m : *all)
        if (std::ranges::find(known, m.name) == known.end())
            fail(m.value,
                 fmt::format("unknown member {}; the nearest are {}", as_given(m.name), most_similar(m.name, known)));
}

const file_value* file_members::find(std::string_view name) const noexcept {
    for (const file_member& m : *table_.as<file_value::table>())
        if (m.name == name) return &m.value;
    return nullptr;
}

const file_value& file_members::required(std::string_view name, std::string_view rule) const {
    if (const file_value* found = find(name)) return *found;
    fail(table_, fmt::format("'{}' is missing; add {}", name, rule));
}

std::string file_members::text(const file_value& v, std::string_view name) const {
    if (const auto* text = v.as<std::string>()) return *text;
    fail(v, fmt::format("'{}' must be a text in quotes", name));
}

std::string file_members::identifier(std::string_view name) const {
    const file_value& v = required(name, "a name of letters, digits and underscores");
    std::string given = text(v, name);
    if (!is_member_name(given))
        fail(v, fmt::format("invalid name {}; must consist of letters, digits and underscores, and start with a letter",
                            as_given(given)));
    return given;
}

u64 file_members::number(const file_value& v, std::string_view name, u64 least, u64 most) const {
    std::optional<u64> given;
    if (const auto* n = v.as<std::int64_t>(); n && *n >= 0) given = static_cast<u64>(*n);
    if (const auto* t = v.as<std::string>())
        if (const auto n = parse_number(*t); n && !n->is_larger) given = n->value;
    if (given && *given >= least && *given <= most) return *given;
    fail(v, fmt::format("'{}' must be a number from {} to {}", name, least, most));
}

bool file_members::truth(std::string_view name) const {
    const file_value* v = find(name);
    if (!v) return false;
    if (const auto* b = v->as<bool>()) return *b;
    fail(*v, fmt::format("'{}' must be true or false", name));
}

void file_members::fail(unsigned line, std::string_view problem) const {
    throw std::runtime_error(fmt::format("{}:{}: {}: {}", escaped(file_), line, what_, problem));
}

} // namespace comad::iba::detail
