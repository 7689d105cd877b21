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
    MgmtClass mgmt_class;
    u8 class_version;
    u16 attributeID;
    const record_info* info;
};
template <attribute T>
constexpr attribute_entry entry_of{attribute_of<T>::mgmt_class, attribute_of<T>::class_version,
                                   attribute_of<T>::attributeID, &info_of<T>};
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
    for (const attribute_entry& a : attributes)
        if (a.mgmt_class == mgmt_class && a.class_version == class_version && a.attributeID == attributeID)
            return a.info;
    return nullptr;
}

} // namespace comad::iba
