// SPDX-License-Identifier: MIT
// print_dotted.cpp - prints one field of a structure per line, and pads the name with dots.
#include "rows.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <cctype>
#include <iterator>

namespace comad::iba {
namespace {

using detail::byte_span;

std::string value_text(const row_info& row, byte_span bytes) {
    if (row.how == show::text) return "'" + escaped(detail::text_in(row, bytes)) + "'";
    if (row.is_blob()) return detail::hex_bytes(detail::blob_in(row, bytes));
    if (row.count == 1) return detail::element_text(row, bytes, 0);

    std::string list;
    for (unsigned i = 0; i < row.count; ++i)
        list += fmt::format("{}{}:{}", i == 0 ? "[" : ", ", i, detail::element_text(row, bytes, i));
    return list + ']';
}

/// The lines of a structure while they are printed.
struct lines {
    dotted_options options;
    std::string text{};

    void add_line(const std::string& path, std::string name, const std::string& value) {
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        fmt::format_to(std::back_inserter(text), "{:.<{}}{}\n", path + name + (options.colon ? ':' : '.'),
                       options.column, value);
    }

    void add_row(const std::string& path, const row_info& row, byte_span bytes) {
        if (options.keys == key_display::hidden && is_key(row)) {
            add_line(path, std::string(row.name), "<not displayed>");
            return;
        }
        const bool has_line_per_element = !row.is_blob() && row.count > 1 && (options.list || row.width > 16);
        if (!has_line_per_element) add_line(path, std::string(row.name), value_text(row, bytes));
        for (unsigned i = 0; has_line_per_element && i < row.count; ++i)
            add_line(path, fmt::format("{}[{}]", row.name, i), detail::element_text(row, bytes, i));
    }

    void add_record(const std::string& path, const record_info& info, byte_span bytes, const record_info* data) {
        for (const row_info& row : info.rows) {
            if ((row.is_reserved && options.skip_reserved) || !detail::is_within(row, bytes)) continue;
            const std::vector<detail::part> parts = detail::parts_in(info, bytes, row, data);
            for (const detail::part& p : parts)
                add_record(path + p.name + '.', *p.info, bytes.subspan(p.byte), nullptr);
            if (parts.empty()) add_row(path, row, bytes);
        }
    }
};

} // namespace

std::string dotted(const record_info& info, std::span<const u8> bytes, const record_info* data,
                   const dotted_options& options) {
    lines out{options};
    out.add_record({}, info, bytes, data);
    return std::move(out.text);
}

} // namespace comad::iba
