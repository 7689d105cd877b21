// SPDX-License-Identifier: MIT
// fields.cpp - reads and writes fields of encoded structures by name and as text.
#include "names.hpp"
#include "rows.hpp"
#include "values.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace comad::iba {
namespace {

void add_fields(std::vector<field_info>& out, const std::string& path, unsigned base, const record_info& info) {
    for (row_info row : info.rows) {
        row.off = static_cast<u16>(row.off + base);
        out.push_back({path + std::string(row.name), row});
        for (const detail::part& p : detail::parts_of(row)) add_fields(out, path + p.name + '.', p.byte * 8, *p.info);
    }
}

std::string full_name(const record_info& info, std::string_view name) { return fmt::format("{}.{}", info.name, name); }

result<row_info> find_value(const record_info& info, std::string_view name) {
    auto row = find_field(info, name);
    if (row && row.value().nested) return detail::is_structure(row.value(), full_name(info, name));
    return row;
}

std::string format_list(const row_info& row, std::span<const u8> bytes) {
    std::vector<std::string> elements;
    for (unsigned i = 0; i < row.count; ++i) elements.push_back(detail::element_text(row, bytes, i));
    return fmt::format("[{}]", fmt::join(elements, ", "));
}

} // namespace

std::vector<field_info> fields_of(const record_info& info) {
    std::vector<field_info> fields;
    add_fields(fields, {}, 0, info);
    return fields;
}

std::string_view kind_of(const row_info& row) noexcept {
    if (row.nested) return "structure";
    switch (row.how) {
    case show::guid: return "GUID";
    case show::gid: return "GID";
    case show::prefix: return "GID prefix";
    case show::name: return "enumeration";
    case show::text: return "text";
    case show::bytes:
    case show::data:
    case show::details: return "bytes";
    default: return "integer";
    }
}

result<row_info> find_field(const record_info& info, std::string_view name) {
    const auto steps = detail::resolve(info, name);
    if (!steps) return steps.error();
    row_info found{};
    unsigned base = 0;
    for (const detail::step& s : steps.value()) {
        found = s.element ? detail::element_of_row(*s.row, *s.element) : *s.row;
        found.off = static_cast<u16>(found.off + base);
        base = found.off;
    }
    return found;
}

result<std::string> get_field(const record_info& info, std::span<const u8> bytes, std::string_view name) {
    const auto found = find_value(info, name);
    if (!found) return found.error();
    if (bytes.size() < info.bytes) return detail::size_error(info, bytes.size());
    const row_info& row = found.value();
    if (row.how == show::text) return std::string(detail::text_in(row, bytes));
    if (row.is_blob()) return detail::hex_bytes(detail::blob_in(row, bytes));
    return row.count > 1 ? format_list(row, bytes) : detail::element_text(row, bytes, 0);
}

result<void> set_field(const record_info& info, std::span<u8> bytes, std::string_view name, std::string_view text) {
    const auto found = find_value(info, name);
    if (!found) return found.error();
    if (bytes.size() < info.bytes) return detail::size_error(info, bytes.size());
    std::vector<u8> changed(bytes.begin(), bytes.begin() + info.bytes);
    if (auto done = detail::set_text({changed, found.value(), full_name(info, name)}, text); !done) return done;
    std::copy(changed.begin(), changed.end(), bytes.begin());
    return success();
}

result<assignment> parse_assignment(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos)
        return error{errc::unreadable, fmt::format("invalid assignment {}; expected NAME=VALUE", as_given(text))};
    return assignment{text.substr(0, equals), text.substr(equals + 1)};
}

} // namespace comad::iba
