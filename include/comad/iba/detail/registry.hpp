// SPDX-License-Identifier: MIT
// registry.hpp - finds the tables of a received MAD, and tables by name. It contains every structure, and decodes
// none.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <string_view>

namespace comad::iba {

/// The table of a structure, and its use as an attribute.
struct structure {
    const record_info* info;
    u16 attributeID = 0;                 ///< ID, if it is an attribute
    std::span<const attribute_use> uses; ///< classes in which it is an attribute, with its methods; empty: none
};

/// Returns all structures, in the order of the chapters of the IBA. Structures of register_structures() follow.
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
/// OUI: that of the MAD, in a vendor class with OUI. Structures of register_structures() take precedence.
const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID, u32 OUI = 0) noexcept;

/// Works as find_attribute(), but finds only the structures that are compiled into the library. Keys in them remain
/// hidden even if register_structures() describes the attribute without its keys.
const record_info* find_compiled_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID,
                                           u32 OUI = 0) noexcept;

/// Returns whether the IBA, or the vendor, defines this request method for the attribute in the class.
bool is_legal_request(MgmtClass mgmt_class, u8 class_version, Method method, u16 attributeID, u32 OUI = 0) noexcept;

/// Adds structures to the registry that a TOML or JSON text describes, such as attributes of a vendor. From then on, they
/// work like compiled ones wherever a table is found at run time: decoding, texts, JSON, fields by name, traces.
/// docs/reference/structures-at-run-time.md describes the text. It checks a text as strictly as the compiler checks tables (table.hpp): rows that overlap,
/// leave gaps, lie outside the structure or cross 32-bit words are errors, as are duplicate names and attributes.
/// `name`: the name of the text in messages, usually that of a file.
/// Errors:  std::runtime_error with one line, `NAME:LINE: STRUCTURE.FIELD: ...`; the registry is then unchanged.
/// Threads: any. Spans and pointers that the registry returned before stay valid, but do not contain the new structures.
void register_structures(std::string_view text, const std::string& name);
/// Removes all structures that register_structures() added, for tests. Pointers to them stay valid.
void forget_registered_structures() noexcept;

/// Returns the structure of Notice.dataDetails in a generic notice of subnet management or administration; null if
/// unknown.
const record_info* find_notice_details(TrapNumber trap) noexcept;

} // namespace comad::iba
