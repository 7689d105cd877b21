// SPDX-License-Identifier: MIT
// registry.hpp - finds the tables of a received MAD, and tables by name. It contains every structure, and decodes
// none.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string_view>

namespace comad::iba {

/// The table of a structure, and its use as an attribute.
struct structure {
    const record_info* info;
    u16 attributeID = 0;                 ///< ID, if it is an attribute
    std::span<const attribute_use> uses; ///< classes in which it is an attribute, with its methods; empty: none
};

/// Returns all structures, in the order of the chapters of the IBA.
std::span<const structure> structures() noexcept;

/// Returns the structure with this full name (`SMPNodeInfo`); null if there is none.
const structure* find_structure(std::string_view name) noexcept;

/// Returns the MAD format of a management class and its version; null if unknown. A vendor class has one format for
/// every OUI. The attribute matters only in congestion control, where logs have another position than the other
/// attributes.
const record_info* find_format(MgmtClass mgmt_class, u8 class_version, u16 attributeID = 0) noexcept;

/// Returns the table of an attribute; null if unknown. If several structures have this ID, it returns the first one
/// that fits the data area. Only the data distinguish CongestionLogSwitch from CongestionLogCA, and only
/// PortInfoExtended of the port distinguishes PortExtendedSpeedsCounters from PortExtendedSpeedsCountersRSFEC.
/// OUI: that of the MAD, in a vendor class with OUI.
const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID, u32 OUI = 0) noexcept;

/// Returns whether the IBA, or the vendor, defines this request method for the attribute in the class.
bool is_legal_request(MgmtClass mgmt_class, u8 class_version, Method method, u16 attributeID, u32 OUI = 0) noexcept;

/// Returns the structure of Notice.dataDetails in a generic notice of subnet management or administration; null if
/// unknown.
const record_info* find_notice_details(TrapNumber trap) noexcept;

} // namespace comad::iba
