// SPDX-License-Identifier: MIT
// from_json.cpp - parses JSON into structures.
#include "names.hpp"
#include "rows.hpp"
#include "values.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/from_json.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace comad::iba {
namespace {

using detail::target;
using json_value = nlohmann::json;

/// Returns the text of a value in an error message.
std::string text_of(const json_value& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_structured() ? value.type_name() : value.dump();
}

result<void> set_record(std::span<u8> bytes, const record_info& info, const std::string& path,
                        const json_value& object);
result<void> set_value(const target& to, const json_value& value);

result<void> set_part(const target& to, const detail::part& p, const std::string& path, const json_value& object) {
    return set_record(to.bytes.subspan(p.byte), *p.info, path, object);
}

result<void> set_list(const target& to, const json_value& list) {
    if (list.size() > to.row.count) return detail::too_many(to, list.size());
    detail::clear(to);
    const std::vector<detail::part> parts = detail::parts_of(to.row);
    for (unsigned i = 0; i < list.size(); ++i) {
        const target element = to.element(i);
        const json_value& value = list[i];
        auto done = parts.empty() ? set_value(element, value) : set_part(to, parts[i], element.path, value);
        if (!done) return done;
    }
    return success();
}

result<void> set_value(const target& to, const json_value& value) {
    const row_info& row = to.row;
    if (row.nested && row.count == 1) return set_part(to, detail::parts_of(row)[0], to.path, value);
    if (value.is_array() && row.count > 1 && !row.is_blob()) return set_list(to, value);
    if (value.is_number_unsigned() && row.is_number() && row.count == 1)
        return detail::set_number(to, value.get<u64>(), value.dump());
    if (value.is_string() && !row.nested) return detail::set_text(to, value.get_ref<const std::string&>());
    return detail::unreadable(to, text_of(value));
}

result<void> set_record(std::span<u8> bytes, const record_info& info, const std::string& path,
                        const json_value& object) {
    if (!object.is_object()) {
        return error{errc::unreadable,
                     fmt::format("{} is {}, expected a JSON object", path, as_given(text_of(object)))};
    }
    for (const auto& [key, value] : object.items())
        if (std::ranges::find(info.rows, key, &row_info::name) == info.rows.end())
            return detail::unknown_field(info, path, key);
    // In wire order: the fields that determine the structure of notice details precede the details.
    for (const row_info& row : info.rows) {
        const auto value = object.find(row.name);
        if (value == object.end()) continue;
        const target to{bytes, row, fmt::format("{}.{}", path, row.name)};
        const bool may_be_details = row.how == show::details && value->is_object();
        const record_info* details = may_be_details ? detail::details_in(info, bytes) : nullptr;
        auto done = details ? set_record(bytes.subspan(row.off / 8), *details, to.path, *value) : set_value(to, *value);
        if (!done) return done;
    }
    return success();
}

} // namespace

result<void> set_json(const record_info& info, std::span<u8> bytes, std::string_view text) {
    if (bytes.size() < info.bytes) return detail::size_error(info, bytes.size());
    json_value parsed;
    try {
        parsed = json_value::parse(text);
    } catch (const json_value::parse_error& problem) {
        return error{errc::unreadable, fmt::format("{}: invalid JSON at byte {}", info.name, problem.byte)};
    } catch (const json_value::out_of_range&) { // the parser cannot represent numbers such as 1e999
        return error{errc::out_of_range, fmt::format("{}: a number is too large for any field", info.name)};
    }
    std::vector<u8> changed(bytes.begin(), bytes.begin() + info.bytes);
    if (auto done = set_record(changed, info, std::string(info.name), parsed); !done) return done;
    std::copy(changed.begin(), changed.end(), bytes.begin());
    return success();
}

} // namespace comad::iba
