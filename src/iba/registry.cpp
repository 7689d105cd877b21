// SPDX-License-Identifier: MIT
// registry.cpp - the lists of formats and attributes; a new table is entered here.
#include <comad/iba/attribute.hpp>
#include <comad/iba/registry.hpp>
#include <comad/iba/smp.hpp>

namespace comad::iba {

namespace {

struct format_entry {
    MgmtClass mgmt_class;
    u8 class_version;
    const record_info* info;
};
constexpr format_entry formats[] = {
    {MgmtClass::SubnLID, 1, &info_of<smp::Format>},
    {MgmtClass::SubnDirected, 1, &info_of<smp::FormatDirected>},
};

struct attribute_entry {
    u16 attributeID;
    std::span<const attribute_use> uses;
    const record_info* info;
};
template <attribute T>
constexpr attribute_entry entry_of{attribute_of<T>::attributeID, attribute_of<T>::uses, &info_of<T>};
constexpr attribute_entry attributes[] = {
    entry_of<smp::NodeDescription>, entry_of<smp::NodeInfo>,        entry_of<smp::SwitchInfo>,
    entry_of<smp::PortInfo>,        entry_of<smp::MlnxExtPortInfo>,
};

} // namespace

const record_info* find_format(MgmtClass mgmt_class, u8 class_version) noexcept {
    for (const format_entry& f : formats)
        if (f.mgmt_class == mgmt_class && f.class_version == class_version) return f.info;
    return nullptr;
}

const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID) noexcept {
    if (mgmt_class == MgmtClass::SubnDirected) mgmt_class = MgmtClass::SubnLID; // the same attributes
    for (const attribute_entry& a : attributes) {
        if (a.attributeID != attributeID) continue;
        for (const attribute_use& use : a.uses)
            if (use.mgmt_class == mgmt_class && use.class_version == class_version) return a.info;
    }
    return nullptr;
}

} // namespace comad::iba
