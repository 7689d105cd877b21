// SPDX-License-Identifier: MIT
// mad_tables.cpp - finds the tables of a MAD by its header.
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/smp/node.hpp>
#include <comad/iba/notice.hpp>
#include <comad/iba/vendor.hpp>

namespace comad::iba {

namespace {

/// smp::NoticeTrap with all details in one row, so that printers can show them as the structure of the trap.
constexpr record_info notice_of_smp{info_of<smp::NoticeTrap>.name, info_of<smp::NoticeTrap>.section,
                                    wire_size<smp::NoticeTrap>,
                                    info_of<Notice>.rows.first(info_of<Notice>.rows.size() - 1)};

} // namespace

mad_tables tables_of(std::span<const u8> mad) noexcept {
    mad_tables tables;
    if (mad.size() < wire_size<MADHeader>) return tables;
    const auto mgmt_class = get<&MADHeader::mgmtClass>(mad.data());
    const u8 version = get<&MADHeader::classVersion>(mad.data());
    const u16 id = get<&MADHeader::attributeID>(mad.data());
    tables.format = find_format(mgmt_class, version, id);
    if (!tables.format) return tables;

    const bool reports_oui = tables.format == &info_of<vend::OUIFormat> && mad.size() >= wire_size<vend::OUIFormat>;
    const u32 OUI = reports_oui ? get<&vend::OUIFormat::OUI>(mad.data()) : 0;
    const record_info* attribute = find_attribute(mgmt_class, version, id, OUI);
    if (attribute == &info_of<smp::NoticeTrap>) attribute = &notice_of_smp;
    for (const row_info& row : tables.format->rows) {
        if (row.how != show::data || !attribute) continue;
        tables.data_begin = row.off / 8;
        const bool fits = attribute->bytes <= row.count && tables.data_begin + attribute->bytes <= mad.size();
        if (fits) tables.attribute = attribute;
    }
    return tables;
}

} // namespace comad::iba
