// SPDX-License-Identifier: MIT
// names.cpp - resolves dotted names of fields by the tables of structures.
#include "names.hpp"

#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace comad::iba::detail {
namespace {

std::vector<std::string_view> names_in(const record_info& info) {
    std::vector<std::string_view> names;
    for (const row_info& row : info.rows)
        if (!row.is_reserved) names.push_back(row.name);
    return names;
}

/// A name with an index, split: `name[7]`. If the text does not end with a number in brackets, all of it is the name.
struct part_of_name {
    std::string_view name;
    std::string_view index{};

    explicit part_of_name(std::string_view text) : name(text) {
        const std::size_t open = text.find('[');
        if (open == std::string_view::npos || !text.ends_with(']')) return;
        const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
        if (inside.empty() || inside.find_first_not_of("0123456789") != std::string_view::npos) return;
        name = text.substr(0, open);
        index = inside;
    }
};

result<step> find_step(const record_info& info, const std::string& where, std::string_view text) {
    const part_of_name part(text);
    const auto row = std::find_if(info.rows.begin(), info.rows.end(),
                                  [&](const row_info& candidate) { return candidate.name == part.name; });
    if (row == info.rows.end()) return unknown_field(info, where, part.name);
    if (part.index.empty()) return step{&*row, std::nullopt};

    if (row->count == 1)
        return error{errc::unknown_name, fmt::format("{}.{} is not an array; omit the index", where, row->name)};
    unsigned element = row->count;
    std::from_chars(part.index.data(), part.index.data() + part.index.size(), element);
    if (element >= row->count) {
        return error{errc::unknown_name,
                     fmt::format("the index of {}.{} must be 0..{}", where, row->name, row->count - 1)};
    }
    return step{&*row, element};
}

} // namespace

result<std::vector<step>> resolve(const record_info& info, std::string_view name) {
    std::vector<step> steps;
    std::string where(info.name);
    const record_info* here = &info;
    for (;;) {
        const std::size_t dot = name.find('.');
        auto found = find_step(*here, where, name.substr(0, dot));
        if (!found) return std::move(found).error();
        const step& s = steps.emplace_back(found.value());
        if (dot == std::string_view::npos) return steps;

        fmt::format_to(std::back_inserter(where), ".{}", name.substr(0, dot));
        if (!s.row->nested) return error{errc::unknown_name, where + " is not a structure and has no fields"};
        if (s.row->count > 1 && !s.element) {
            return error{errc::unknown_name,
                         fmt::format("{} is an array of {} structures; name one of them, such as {}[0]", where,
                                     s.row->count, s.row->name)};
        }
        here = s.row->nested;
        name.remove_prefix(dot + 1);
    }
}

namespace {

/// Returns the text after the names that a message suggests: `, ...` if there are more names.
std::string_view rest_of(const std::vector<std::string_view>& names) {
    return names.size() > most_suggestions ? ", ..." : "";
}

} // namespace

error unknown_field(const record_info& info, std::string_view where, std::string_view name) {
    const std::vector<std::string_view> names = names_in(info);
    if (names.empty()) return {errc::unknown_name, fmt::format("{} has no fields", where)};
    return {errc::unknown_name, fmt::format("{} has no field {}; the nearest are {}{}", where, as_given(name),
                                            most_similar(name, names), rest_of(names))};
}

error is_structure(const row_info& row, std::string_view where) {
    std::vector<std::string_view> names = names_in(*row.nested);
    const std::string_view rest = rest_of(names);
    names.resize(std::min(names.size(), most_suggestions));
    return {errc::unknown_name,
            fmt::format("{} is a structure; name one of its fields: {}{}", where, fmt::join(names, ", "), rest)};
}

} // namespace comad::iba::detail
