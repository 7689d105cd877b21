// SPDX-License-Identifier: MIT
// print_json.cpp - one JSON object in one line.
#include "rows.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

namespace comad::iba {
namespace {

using detail::byte_span;

std::string in_quotes(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string json_element(const row_info& row, byte_span bytes, unsigned element) {
    if (row.how == show::gid || row.how == show::guid) return in_quotes(detail::element_text(row, bytes, element));
    const u64 n = detail::number_in(row, bytes, element);
    return row.width > 32 ? in_quotes(detail::hex_number(row, n)) : std::to_string(n);
}

struct writer {
    json_style style;
    key_display keys;
    std::string text{};

    void add_value(const row_info& row, byte_span bytes, const std::vector<detail::part>& parts) {
        const bool is_byte_string = row.is_blob() || (style == json_style::exact && row.width == 8 && row.count > 1);
        if (parts.size() == 1) {
            add_record(*parts[0].info, bytes.subspan(parts[0].byte), nullptr);
        } else if (!parts.empty()) {
            add_list(parts.size(),
                     [&](std::size_t i) { add_record(*parts[i].info, bytes.subspan(parts[i].byte), nullptr); });
        } else if (row.how == show::text && style == json_style::readable) {
            text += json_quoted(detail::text_in(row, bytes));
        } else if (is_byte_string) {
            text += in_quotes(detail::hex_bytes(detail::blob_in(row, bytes)));
        } else if (row.count == 1) {
            text += json_element(row, bytes, 0);
        } else {
            add_list(row.count, [&](std::size_t i) { text += json_element(row, bytes, static_cast<unsigned>(i)); });
        }
    }

    template <class Add> void add_list(std::size_t count, const Add& add) {
        for (std::size_t i = 0; i < count; ++i) {
            text += i == 0 ? '[' : ',';
            add(i);
        }
        text += ']';
    }

    void add_record(const record_info& info, byte_span bytes, const record_info* data) {
        text += '{';
        bool is_first = true;
        for (const row_info& row : info.rows) {
            if ((row.is_reserved && style == json_style::readable) || !detail::is_within(row, bytes)) continue;
            if (keys == key_display::hidden && is_key(row)) continue;
            fmt::format_to(std::back_inserter(text), "{}\"{}\":", std::exchange(is_first, false) ? "" : ",", row.name);
            const bool stays_bytes = style == json_style::exact && row.how == show::details;
            add_value(row, bytes, stays_bytes ? detail::parts_of(row) : detail::parts_in(info, bytes, row, data));
        }
        text += '}';
    }
};

} // namespace

std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data, json_style style,
                 key_display keys) {
    writer out{style, keys};
    out.add_record(info, bytes, data);
    return std::move(out.text);
}

} // namespace comad::iba
