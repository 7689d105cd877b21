// SPDX-License-Identifier: MIT
// registry.cpp - finds the tables of structures by name, class and ID. iba.hpp lists all structures. Structures that are added at run
// time follow the compiled ones.
#include "described_structures.hpp"
#include <comad/iba.hpp>
#include <comad/iba/detail/registry.hpp>

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <vector>

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

/// Returns true if the structure is an attribute of the class.
bool is_attribute(const attribute_use& use, MgmtClass mgmt_class, u8 class_version, u32 OUI) noexcept {
    return use.covers(mgmt_class) && use.class_version == class_version && (use.OUI == 0 || use.OUI == OUI);
}

/// Returns the first of these structures that has this ID in the class, and fits in `most` bytes.
const record_info* find_in(std::span<const structure> those, unsigned most, MgmtClass mgmt_class, u8 class_version,
                           u16 attributeID, u32 OUI) noexcept {
    for (const structure& s : those) {
        if (s.attributeID != attributeID || s.info->bytes > most) continue;
        for (const attribute_use& use : s.uses)
            if (is_attribute(use, mgmt_class, class_version, OUI)) return s.info;
    }
    return nullptr;
}

/// The structures that were added at run time. Readers take no lock: they read a list that never changes. Lists and tables are never
/// freed, because pointers to them may be in use.
struct added_structures {
    std::mutex changes;
    std::list<std::vector<detail::described_structure>> tables;
    std::list<std::vector<structure>>
        lists; ///< each contains the compiled structures and all that were added until then
    std::atomic<const std::vector<structure>*> latest{nullptr}; ///< null: only compiled structures
};
added_structures& added() {
    static auto* const all_added = new added_structures; // never destroyed: other threads may read it until the end
    return *all_added;
}

} // namespace

std::span<const structure> structures() noexcept {
    const std::vector<structure>* const latest = added().latest.load(std::memory_order_acquire);
    return latest ? std::span<const structure>(*latest) : std::span<const structure>(all);
}

std::span<const structure> detail::registered_structures() noexcept { return structures().subspan(all.size()); }

void register_structures(std::string_view text, const std::string& name) {
    added_structures& a = added();
    const std::lock_guard lock(a.changes);
    std::vector<detail::described_structure> described = detail::read_described_structures(text, name);
    const std::span<const structure> before = structures();
    std::vector<structure> list(before.begin(), before.end());
    for (const detail::described_structure& d : described) list.push_back(d.entry());
    a.tables.push_back(std::move(described)); // the tables that the entries point to stay where they are
    a.latest.store(&a.lists.emplace_back(std::move(list)), std::memory_order_release);
}

void forget_registered_structures() noexcept {
    added_structures& a = added();
    const std::lock_guard lock(a.changes);
    a.latest.store(nullptr, std::memory_order_release);
}

const structure* find_structure(std::string_view name) noexcept {
    for (const structure& s : structures())
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
    const record_info* const found = find_in(detail::registered_structures(), detail::data_area_of(*format), mgmt_class,
                                             class_version, attributeID, OUI);
    return found ? found : find_compiled_attribute(mgmt_class, class_version, attributeID, OUI);
}

const record_info* find_compiled_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID, u32 OUI) noexcept {
    const record_info* format = find_format(mgmt_class, class_version, attributeID);
    return format ? find_in(all, detail::data_area_of(*format), mgmt_class, class_version, attributeID, OUI) : nullptr;
}

bool is_legal_request(MgmtClass mgmt_class, u8 class_version, Method method, u16 attributeID, u32 OUI) noexcept {
    for (const structure& s : structures()) {
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
