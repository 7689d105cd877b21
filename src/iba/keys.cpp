// SPDX-License-Identifier: MIT
// keys.cpp - keys are found by their names in the tables.
#include "rows.hpp"
#include <comad/iba/codec.hpp>
#include <comad/iba/keys.hpp>
#include <comad/iba/mad_tables.hpp>
#include <comad/iba/sa/format.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace comad::iba {
namespace {

constexpr std::string_view key_names[] = {"MKey", "SMKey", "CCKey", "serviceKey"};

bool clear(std::span<u8> bytes) noexcept {
    const bool has_some = std::any_of(bytes.begin(), bytes.end(), [](u8 b) { return b != 0; });
    std::fill(bytes.begin(), bytes.end(), u8{0});
    return has_some;
}

/// Bytes of a record.
struct range {
    unsigned begin, end;
};

void add_keys(const record_info& info, unsigned base, std::vector<range>& out) {
    for (const row_info& row : info.rows) {
        const unsigned begin = base + row.off / 8;
        if (is_key(row)) out.push_back({begin, begin + row.bits() / 8});
        for (const detail::part& p : detail::parts_of(row)) add_keys(*p.info, base + p.byte, out);
    }
}

/// Of a MAD that is a segment of a table; a whole table, put together, has none.
u32 count_segments_before(std::span<const u8> mad) noexcept {
    if (mad.size() != wire_size<sa::Format>) return 0;
    const u32 segment = get<&rmpp::Header::data1>(mad.data());
    return segment > 0 ? segment - 1 : 0;
}

/// In records that begin here or in a segment before.
bool hide_in_table(std::span<u8> mad, const record_info& attribute, unsigned data_begin, u32 segments_before) {
    std::vector<range> keys;
    add_keys(attribute, 0, keys);
    if (keys.empty()) return false;
    constexpr unsigned segment_data = wire_size<sa::Format> - wire_size<sa::Header>;
    const unsigned told = 8u * get<&sa::Header::attributeOffset>(mad.data());
    const unsigned stride = std::max(told, (attribute.bytes + 7) / 8 * 8);
    const u64 before = u64{segments_before} * segment_data % stride; // of a record that began there
    bool has_some = false;
    for (u64 record = 0; record < before + mad.size(); record += stride)
        for (const range& key : keys) {
            const auto within = [&](u64 byte) { // of the table's, in the MAD
                const u64 at = byte <= before ? data_begin : data_begin + byte - before;
                return std::min<u64>(at, mad.size());
            };
            const u64 begin = within(record + key.begin), end = within(record + key.end);
            has_some |= clear(mad.subspan(begin, end - begin));
        }
    return has_some;
}

} // namespace

bool is_key(const row_info& row) noexcept { return std::ranges::find(key_names, row.name) != std::end(key_names); }

bool hide_keys(const record_info& info, std::span<u8> bytes, const record_info* data) {
    bool has_some = false;
    for (const row_info& row : info.rows) {
        if (!detail::is_within(row, bytes)) continue;
        if (is_key(row)) has_some |= clear(bytes.subspan(row.off / 8, row.bits() / 8));
        for (const detail::part& p : detail::parts_in(info, bytes, row, data))
            has_some |= hide_keys(*p.info, bytes.subspan(p.byte), nullptr);
    }
    return has_some;
}

bool hide_keys(std::span<u8> mad) {
    const mad_tables tables = tables_of(mad);
    if (!tables.format) return false;
    const bool is_SA = tables.format == &info_of<sa::Format>;
    const u32 segments_before = is_SA ? count_segments_before(mad) : 0;
    bool has_some = hide_keys(*tables.format, mad, segments_before ? nullptr : tables.attribute);
    if (is_SA && tables.attribute)
        has_some |= hide_in_table(mad, *tables.attribute, tables.data_begin, segments_before);
    return has_some;
}

} // namespace comad::iba
