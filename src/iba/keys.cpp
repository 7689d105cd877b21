// SPDX-License-Identifier: MIT
// keys.cpp - finds keys by their names in the tables, and by a list for the keys that no table contains.
#include "rows.hpp"
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/sa/format.hpp>
#include <comad/iba/notice.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace comad::iba {
namespace {

constexpr std::string_view key_names[] = {"MKey", "SMKey", "BKey", "CCKey", "VSKey", "serviceKey"};

/// A range of bytes in a structure or MAD.
struct range {
    u64 begin, end;
};

/// A key of MADs that has no row in a table here, in all attributes of a class or in one.
struct untabled_key {
    static constexpr u16 any = 0xffff;
    MgmtClass mgmt_class;
    u16 attributeID;
    range bytes; ///< bytes of the key in the MAD
    unsigned count = 1, stride = 0;
};

constexpr u16 notice_id = 0x0002;
constexpr MgmtClass nvlink_class{0x09}, aggregation_class{0x0b}, node_to_node_class{0x0c};

/// Keys of the vendor classes are those of Mellanox devices (ibis of ibutils2, packets_layouts.h and ibis_types.h).
/// Keys in notices (IBA 16.2.3 and A10.4.3) are those of ib_types.h of OpenSM (ntc_bkey_259, ntc_cckey_0); ibis has
/// the CC_Key two bytes earlier.
constexpr untabled_key untabled_keys[] = {
    {MgmtClass::Performance, untabled_key::any, {24, 32}}, // pm_key
    {nvlink_class, untabled_key::any, {24, 32}},           // vs_key
    {vend::mellanox_class, untabled_key::any, {24, 32}},   // vs_key
    {aggregation_class, untabled_key::any, {24, 32}},      // am_key
    {node_to_node_class, untabled_key::any, {24, 32}},     // N2N_Key
    {MgmtClass::BM, notice_id, {88, 96}},                  // trap 259
    {MgmtClass::BM, 0x0010, {64, 72}},                     // BKeyInfo
    {MgmtClass::CongestionControl, notice_id, {88, 98}},   // trap 0
    {aggregation_class, notice_id, {88, 98}},              // TrapAMKeyViolation
    {aggregation_class, 0x0010, {64, 72}},                 // AMKeyInfo
    {aggregation_class, 0x0024, {108, 116}},               // QuotaConfig: the key of a job
    {node_to_node_class, 0x000f, {32, 40}},                // KeyInfo
    {node_to_node_class, 0x0010, {40, 48}, 14, 16},        // NeighborsInfo: the key of each neighbor
};

/// Sets the bytes of the range to zero, as far as they exist. Returns whether a byte was not zero.
bool clear(std::span<u8> bytes, range r) noexcept {
    r.end = std::min<u64>(r.end, bytes.size());
    if (r.begin >= r.end) return false;
    const std::span<u8> key = bytes.subspan(r.begin, r.end - r.begin);
    const bool has_some = std::any_of(key.begin(), key.end(), [](u8 b) { return b != 0; });
    std::fill(key.begin(), key.end(), u8{0});
    return has_some;
}

range range_of(const row_info& row) noexcept {
    const unsigned begin = row.off / 8;
    return {begin, begin + row.bits() / 8};
}

void add_keys(const record_info& info, unsigned base, std::vector<range>& out) {
    for (const row_info& row : info.rows) {
        const range own = range_of(row);
        if (is_key(row)) out.push_back({base + own.begin, base + own.end});
        for (const detail::part& p : detail::parts_of(row)) add_keys(*p.info, base + p.byte, out);
    }
}

bool is_subnet_class(MgmtClass c) noexcept { return is_smp(c) || c == MgmtClass::SubnAdm; }

/// Returns the number of segments before this one, for a MAD that is a segment of a table. A whole table has none. In
/// other MADs the RMPP bytes have no meaning.
u32 count_segments_before(std::span<const u8> mad) noexcept {
    if (mad.size() != wire_size<sa::Format>) return 0;
    switch (get<&MADHeader::method>(mad.data())) {
    case Method::GetTableResp:
    case Method::GetMultiResp: break;
    default: return 0;
    }
    const u32 segment = get<&rmpp::Header::data1>(mad.data());
    return segment > 0 ? segment - 1 : 0;
}

/// Replaces the keys in records that start in this MAD or in an earlier segment.
bool hide_in_table(std::span<u8> mad, const record_info& attribute, unsigned data_begin, u32 segments_before) {
    std::vector<range> keys;
    add_keys(attribute, 0, keys);
    if (keys.empty()) return false;
    constexpr unsigned segment_data = wire_size<sa::Format> - wire_size<sa::Header>;
    const unsigned record_size =
        mad.size() >= wire_size<sa::Header> ? 8u * get<&sa::Header::attributeOffset>(mad.data()) : 0;
    const unsigned stride = std::max(record_size, (attribute.bytes + 7) / 8 * 8);
    const u64 before = u64{segments_before} * segment_data % stride; // bytes of the first record in earlier segments
    bool has_some = false;
    for (u64 record = 0; record < before + mad.size(); record += stride)
        for (const range& key : keys) {
            const auto within = [&](u64 byte) { // converts an offset in the table to one in the MAD
                return byte <= before ? data_begin : data_begin + byte - before;
            };
            has_some |= clear(mad, {within(record + key.begin), within(record + key.end)});
        }
    return has_some;
}

/// Replaces the M_Key of trap 256.
bool hide_in_notice(std::span<u8> mad, unsigned notice_begin) {
    const std::span<u8> bytes = mad.subspan(std::min<std::size_t>(notice_begin, mad.size()));
    const record_info* const details = detail::details_in(info_of<Notice>, bytes);
    if (!details) return false;
    std::vector<range> keys;
    add_keys(*details, offset_of<&Notice::dataDetails>, keys);
    bool has_some = false;
    for (const range& key : keys) has_some |= clear(bytes, key);
    return has_some;
}

/// Returns a format of the class even if the version of the MAD is unknown: a key is as secret in other versions.
const record_info* format_of(MgmtClass c, u8& version, u16 attributeID) noexcept {
    for (const u8 known : {version, u8{1}, u8{2}}) {
        const record_info* const found = find_format(c, known, attributeID);
        if (found) version = known;
        if (found) return found;
    }
    return nullptr;
}

/// Returns whether rows describe a range of bytes, and none of them is a key. Reserved rows do not describe what the bytes mean.
bool is_described_without_key(const record_info& attribute, unsigned data_begin, range bytes) {
    const auto overlaps = [&](range r) { return r.begin < bytes.end && bytes.begin < r.end; };
    std::vector<range> keys;
    add_keys(attribute, data_begin, keys);
    if (std::ranges::any_of(keys, overlaps)) return false;
    return std::ranges::any_of(attribute.rows, [&](const row_info& row) {
        constexpr unsigned byte = 8;
        const unsigned end = (row.off + row.bits() + byte - 1) / byte;
        return !row.is_reserved && overlaps({data_begin + row.off / byte, data_begin + end});
    });
}

unsigned data_begin_of(const record_info& format) noexcept {
    const auto data = std::ranges::find(format.rows, show::data, &row_info::how);
    return data == format.rows.end() ? 0 : data->off / 8;
}

} // namespace

bool is_key(const row_info& row) noexcept { return std::ranges::find(key_names, row.name) != std::end(key_names); }

bool hide_keys(const record_info& info, std::span<u8> bytes, const record_info* data) {
    bool has_some = false;
    for (const row_info& row : info.rows) {
        if (is_key(row)) has_some |= clear(bytes, range_of(row));
        if (!detail::is_within(row, bytes)) continue;
        for (const detail::part& p : detail::parts_in(info, bytes, row, data))
            has_some |= hide_keys(*p.info, bytes.subspan(p.byte), nullptr);
    }
    return has_some;
}

bool hide_keys(std::span<u8> mad) {
    if (mad.size() < wire_size<MADHeader>) return false;
    const auto mgmt_class = get<&MADHeader::mgmtClass>(mad.data());
    const u16 id = get<&MADHeader::attributeID>(mad.data());
    u8 version = get<&MADHeader::classVersion>(mad.data());
    const record_info* const format = format_of(mgmt_class, version, id);
    const unsigned data_begin = format ? data_begin_of(*format) : 0;
    const record_info* const attribute = data_begin ? find_attribute(mgmt_class, version, id) : nullptr;
    const record_info* const compiled = data_begin ? find_compiled_attribute(mgmt_class, version, id) : nullptr;
    const bool is_registered = attribute && attribute != compiled;
    bool has_some = false;
    for (const untabled_key& k : untabled_keys) {
        if (k.mgmt_class != mgmt_class || (k.attributeID != id && k.attributeID != untabled_key::any)) continue;
        // A key of a whole vendor class is part of the data of each attribute, which a text may describe in another way.
        if (is_registered && k.attributeID == untabled_key::any &&
            is_described_without_key(*attribute, data_begin, k.bytes))
            continue;
        for (unsigned i = 0; i < k.count; ++i)
            has_some |= clear(mad, {k.bytes.begin + i * k.stride, k.bytes.end + i * k.stride});
    }
    if (!format) return has_some;
    std::vector<range> keys;
    add_keys(*format, 0, keys);
    const bool is_sa = format == &info_of<sa::Format>;
    const u32 segments_before = is_sa ? count_segments_before(mad) : 0;
    if (attribute && !is_sa) add_keys(*attribute, data_begin, keys);
    if (compiled && compiled != attribute && !is_sa) add_keys(*compiled, data_begin, keys);
    for (const range& key : keys) has_some |= clear(mad, key);
    if (attribute && is_sa) has_some |= hide_in_table(mad, *attribute, data_begin, segments_before);
    if (compiled && compiled != attribute && is_sa)
        has_some |= hide_in_table(mad, *compiled, data_begin, segments_before);
    if (id == notice_id && is_subnet_class(mgmt_class)) has_some |= hide_in_notice(mad, data_begin);
    return has_some;
}

} // namespace comad::iba
