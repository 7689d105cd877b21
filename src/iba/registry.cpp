// SPDX-License-Identifier: MIT
// registry.cpp - finds the tables of structures by name, class and ID. iba.hpp lists all structures.
#include <comad/iba.hpp>
#include <comad/iba/detail/registry.hpp>

#include <array>

namespace comad::iba {

namespace {

template <wire T> constexpr structure structure_of() {
    if constexpr (attribute<T>) return {&info_of<T>, attribute_id<T>, attribute_of<T>::uses};
    else return {&info_of<T>, 0, {}};
}

template <wire... T> constexpr std::array<structure, sizeof...(T)> list(structure_list<T...>) {
    return {structure_of<T>()...};
}
constexpr auto all = list(all_structures{});

constexpr bool have_different_names() {
    for (const structure& a : all)
        for (const structure& b : all)
            if (&a != &b && a.info->name == b.info->name) return false;
    return true;
}
static_assert(have_different_names(), "a table is entered twice");

/// Returns the bytes of a format's data area.
unsigned data_size(const record_info& format) noexcept {
    for (const row_info& row : format.rows)
        if (row.how == show::data) return row.count;
    return 0;
}

/// Returns true if the structure is an attribute of the class.
bool is_attribute(const attribute_use& use, MgmtClass mgmt_class, u8 class_version, u32 OUI) noexcept {
    return use.covers(mgmt_class) && use.class_version == class_version && (use.OUI == 0 || use.OUI == OUI);
}

} // namespace

std::span<const structure> structures() noexcept { return all; }

const structure* find_structure(std::string_view name) noexcept {
    for (const structure& s : all)
        if (s.info->name == name) return &s;
    return nullptr;
}

const record_info* find_format(MgmtClass mgmt_class, u8 class_version, u16 attributeID) noexcept {
    const u8 known_version = mgmt_class == MgmtClass::SubnAdm || mgmt_class == MgmtClass::CommMgt ||
                                     mgmt_class == MgmtClass::CongestionControl
                                 ? 2
                                 : 1;
    if (class_version != known_version) return nullptr;
    switch (mgmt_class) {
    case MgmtClass::SubnLID: return &info_of<smp::Format>;
    case MgmtClass::SubnDirected: return &info_of<smp::FormatDirected>;
    case MgmtClass::SubnAdm: return &info_of<sa::Format>;
    case MgmtClass::Performance: return &info_of<pm::Format>;
    case MgmtClass::BM: return &info_of<bm::Format>;
    case MgmtClass::DevMgt: return &info_of<dm::Format>;
    case MgmtClass::CommMgt: return &info_of<cm::Format>;
    case MgmtClass::SNMP: return &info_of<snmp::Format>;
    case MgmtClass::CongestionControl:
        return attributeID == attribute_id<cc::CongestionLogSwitch> ? &info_of<cc::LogFormat> : &info_of<cc::Format>;
    default: break;
    }
    if (is_vendor(mgmt_class)) return &info_of<vend::Format>;
    return is_vendor_oui(mgmt_class) ? &info_of<vend::OUIFormat> : nullptr;
}

const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID, u32 OUI) noexcept {
    const record_info* format = find_format(mgmt_class, class_version, attributeID);
    if (!format) return nullptr;
    for (const structure& s : all) {
        if (s.attributeID != attributeID || s.info->bytes > data_size(*format)) continue;
        for (const attribute_use& use : s.uses)
            if (is_attribute(use, mgmt_class, class_version, OUI)) return s.info;
    }
    return nullptr;
}

bool is_legal_request(MgmtClass mgmt_class, u8 class_version, Method method, u16 attributeID, u32 OUI) noexcept {
    for (const structure& s : all) {
        if (s.attributeID != attributeID) continue;
        for (const attribute_use& use : s.uses)
            if (is_attribute(use, mgmt_class, class_version, OUI) && use.allows(method)) return true;
    }
    return false;
}

const record_info* find_notice_details(TrapNumber trap) noexcept {
    switch (trap) {
    case TrapNumber::GIDInService:
    case TrapNumber::GIDOutOfService:
    case TrapNumber::MulticastGroupCreated:
    case TrapNumber::MulticastGroupDeleted: return &info_of<NoticeTrap64>;
    case TrapNumber::LinkStateChange: return &info_of<NoticeTrap128>;
    case TrapNumber::LinkIntegrityThreshold:
    case TrapNumber::BufferOverrunThreshold:
    case TrapNumber::FlowControlWatchdog: return &info_of<NoticeTrap129>;
    case TrapNumber::LocalChange: return &info_of<NoticeTrap144>;
    case TrapNumber::SystemImageGUIDChange: return &info_of<NoticeTrap145>;
    case TrapNumber::BadMKey: return &info_of<NoticeTrap256>;
    case TrapNumber::BadPKey:
    case TrapNumber::BadQKey: return &info_of<NoticeTrap257>;
    case TrapNumber::BadPKeyAtSwitch: return &info_of<NoticeTrap259>;
    default: return nullptr;
    }
}

} // namespace comad::iba
