// SPDX-License-Identifier: MIT
// print_json.cpp - converts structures to JSON objects.
#include "rows.hpp"
#include <comad/iba/detail/json.hpp>
#include <comad/iba/print.hpp>

#include <nlohmann/json.hpp>

#include <utility>

namespace comad::iba {

namespace detail {
namespace {

using nlohmann::ordered_json;

ordered_json json_element(const row_info& row, byte_span bytes, unsigned element) {
    if (row.how == show::gid || row.how == show::guid) return element_text(row, bytes, element);
    const u64 n = number_in(row, bytes, element);
    if (row.width > 32) return hex_number(row, n);
    return n;
}

/// Converts values and structures to JSON in one style.
struct json_builder {
    json_style style;
    key_display keys;

    ordered_json value(const row_info& row, byte_span bytes, const std::vector<part>& parts) const {
        const auto part_at = [&](const part& p) { return record(*p.info, bytes.subspan(p.byte), nullptr); };
        const bool is_byte_string = row.is_blob() || (style == json_style::exact && row.width == 8 && row.count > 1);
        if (parts.size() == 1) return part_at(parts[0]);
        ordered_json list = ordered_json::array();
        if (!parts.empty()) {
            for (const part& p : parts) list.push_back(part_at(p));
            return list;
        }
        if (row.how == show::text && style == json_style::readable) return json_string(text_in(row, bytes));
        if (is_byte_string) return hex_bytes(blob_in(row, bytes));
        if (row.count == 1) return json_element(row, bytes, 0);
        for (unsigned i = 0; i < row.count; ++i) list.push_back(json_element(row, bytes, i));
        return list;
    }

    ordered_json record(const record_info& info, byte_span bytes, const record_info* data) const {
        ordered_json::object_t members;
        members.reserve(info.rows.size());
        for (const row_info& row : info.rows) {
            if ((row.is_reserved && style == json_style::readable) || !is_within(row, bytes)) continue;
            if (keys == key_display::hidden && is_key(row)) continue;
            const bool stays_bytes = style == json_style::exact && row.how == show::details;
            // Names are unique in a structure, so there is no need to search for duplicates.
            members.emplace_back(row.name,
                                 value(row, bytes, stays_bytes ? parts_of(row) : parts_in(info, bytes, row, data)));
        }
        return members;
    }
};

} // namespace

ordered_json json_object(const record_info& info, std::span<const u8> bytes, const record_info* data, json_style style,
                         key_display keys) {
    return json_builder{style, keys}.record(info, bytes, data);
}

ordered_json json_bytes(std::span<const u8> bytes) { return hex_bytes(bytes); }

} // namespace detail

std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data, json_style style,
                 key_display keys) {
    return detail::json_compact(detail::json_object(info, bytes, data, style, keys));
}

} // namespace comad::iba
