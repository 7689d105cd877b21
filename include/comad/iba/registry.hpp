// SPDX-License-Identifier: MIT
// registry.hpp - which table describes a MAD that somebody else built. Knows every format and attribute; decodes none.
#pragma once
#include <comad/iba/enums.hpp>
#include <comad/iba/table.hpp>

namespace comad::iba {

/// The whole MAD of a management class and its version; null if unknown.
const record_info* find_format(MgmtClass mgmt_class, u8 class_version) noexcept;

/// The attribute in its data area; null if unknown.
const record_info* find_attribute(MgmtClass mgmt_class, u8 class_version, u16 attributeID) noexcept;

} // namespace comad::iba
