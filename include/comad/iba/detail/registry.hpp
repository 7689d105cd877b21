// SPDX-License-Identifier: MIT
// registry.hpp - which table describes a MAD that somebody else built, and the tables by name. Knows every structure;
// decodes none.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string_view>

namespace comad::iba {

/// A structure as run-time code finds it.
struct structure {
    const record_info* info;
    u16 attributeID = 0;                 ///< of an attribute
    std::span<const attribute_use> uses; ///< where it is an attribute, and with which methods; empty: nowhere
};

/// All structures, by chapter of the IBA.
std::span<const structure> structures() noexcept;

/// The structure with this full name (`SMPNodeInfo`); null if there is none.
const structure* find_structure(std::string_view name) noexcept;

/// The whole MAD of a management class and its version; null if unknown. A vendor class has the same for every OUI. The
/// attribute matters in congestion control alone, whose logs lie elsewhere than its other attributes.
const record_info* find_format(MgmtClass mgmt_class, u8 class_version, u16 attributeID = 0) noexcept;

/// The attribute in its data area; null if unknown. Of several structures with the same id, the first that fits there:
/// what lies in the data area itself tells CongestionLogSwitch from CongestionLogCA, and the port's PortInfoExtended
/// PortExtendedSpeedsCounters from PortExtendedSpeedsCountersRSFEC.
/// OUI: of the MAD, in a vendor class that tells it.
const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID, u32 OUI = 0) noexcept;

/// True if the IBA, or the vendor, gives the attribute this request method in the class.
bool is_legal_request(MgmtClass mgmt_class, u8 class_version, Method method, u16 attributeID, u32 OUI = 0) noexcept;

/// What Notice.dataDetails is in a generic notice of subnet management or administration; null if unknown.
const record_info* find_notice_details(TrapNumber trap) noexcept;

} // namespace comad::iba
