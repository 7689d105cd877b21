// SPDX-License-Identifier: MIT
// link_sets.hpp - the widths and speeds that a port supports and that are enabled at it. Does not depend on a text format.
#pragma once
#include <comad/discovery/database/detail/link.hpp>

namespace comad::discovery {

/// The speeds that a port supports. Extended speeds are included only if has_extended_speeds(). Precondition: the PortInfo of the port is
/// known.
link_speeds supported_speeds(const subnet&, port_ref) noexcept;
/// The speeds that are enabled at a port. The value 30 in linkSpeedExtEnabled disables the extended speeds (IBA 14.2.5.6). Precondition:
/// the PortInfo of the port is known.
link_speeds enabled_speeds(const subnet&, port_ref) noexcept;
/// The widest width in a set, by lanes; 0 for an empty set. The bits of a set are not in the order of the lanes.
iba::LinkWidth widest(u8 widths) noexcept;

} // namespace comad::discovery
