// SPDX-License-Identifier: MIT
// rows.cpp - reads and formats the values of single rows in encoded structures.
#include "rows.hpp"

#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/registry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace comad::iba::detail {

row_info element_of_row(const row_info& row, unsigned element) {
    row_info one = row;
    one.off = static_cast<u16>(row.off + element * row.width);
    one.count = 1;
    if (row.is_blob()) one.how = show::dec;
    return one;
}

u64 number_in(const row_info& row, byte_span bytes, unsigned element) {
    return bits_at(bytes.data(), row.off + element * row.width, row.width);
}

byte_span blob_in(const row_info& row, byte_span bytes) { return bytes.subspan(row.off / 8, row.count); }

std::string_view text_in(const row_info& row, byte_span bytes) {
    const byte_span all = blob_in(row, bytes);
    const std::string_view text(reinterpret_cast<const char*>(all.data()), all.size());
    return text.substr(0, text.find('\0'));
}

std::string hex_bytes(byte_span bytes) {
    std::string out = "0x";
    for (u8 byte : bytes) fmt::format_to(std::back_inserter(out), "{:02x}", byte);
    return out;
}

std::string hex_number(const row_info& row, u64 n) { return fmt::format("{:#0{}x}", n, (row.width + 3) / 4 + 2); }

std::string format_gid(const row_info& row, byte_span bytes, unsigned element) {
    gid g;
    std::copy_n(bytes.data() + row.off / 8 + element * 16, 16, g.bytes.data());
    return fmt::format("{}", g);
}

std::string element_text(const row_info& row, byte_span bytes, unsigned element) {
    if (row.how == show::gid) return format_gid(row, bytes, element);
    const u64 n = number_in(row, bytes, element);
    switch (row.how) {
    case show::hex: return hex_number(row, n);
    case show::guid: return fmt::format("{}", guid{n});
    case show::prefix: return fmt::format("{}/64", gid(n, guid{0}));
    case show::name: return name_or_number(row.names, n);
    default: return std::to_string(n);
    }
}

std::vector<part> parts_of(const row_info& row) {
    const unsigned begin = row.off / 8;
    std::vector<part> parts;
    for (unsigned i = 0; row.nested && i < row.count; ++i) {
        std::string name = row.count == 1 ? std::string(row.name) : fmt::format("{}[{}]", row.name, i);
        parts.push_back({std::move(name), row.nested, begin + i * row.nested->bytes});
    }
    return parts;
}

std::vector<part> parts_in(const record_info& record, byte_span bytes, const row_info& row, const record_info* data) {
    if (row.how != show::data && row.how != show::details) return parts_of(row);
    const record_info* inside = row.how == show::data ? data : details_in(record, bytes);
    if (!inside || inside->bytes > row.count) return {};
    return {{std::string(row.name), inside, row.off / 8u}};
}

const record_info* details_in(const record_info& notice, byte_span bytes) noexcept {
    bool is_generic = false;
    u64 trap = 0;
    for (const row_info& row : notice.rows) {
        if (!is_within(row, bytes)) continue;
        if (row.name == "isGeneric") is_generic = number_in(row, bytes) != 0;
        if (row.name == "trapNumber") trap = number_in(row, bytes);
    }
    return is_generic ? find_notice_details(TrapNumber{static_cast<u16>(trap)}) : nullptr;
}

} // namespace comad::iba::detail
