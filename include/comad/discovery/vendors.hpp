// SPDX-License-Identifier: MIT
// vendors.hpp - which devices answer vendors' own SMPs, as their IDs tell. Sends nothing.
#pragma once
#include <comad/iba/smp.hpp>

namespace comad::discovery {

/// Devices that answer SMP 0xff90, as libibnetdisc (query_smp.c, is_mlnx_ext_port_info_supported) knows them: to any
/// other it would be a timeout. The last range is the same chips under Bull's vendor ID.
constexpr bool has_mlnx_ext_port_info(const iba::smp::NodeInfo& node) noexcept {
    const u16 id = node.deviceID;
    const bool switch_chip =
        (id >= 0xc738 && id <= 0xc73b) || id == 0xc839 || id == 0xcb20 || id == 0xcf08 || id == 0xcf09 || id == 0xd2f0;
    const bool adapter_chip = (id >= 0x1003 && id <= 0x101b) || id == 0xa2d2;
    const bool bull =
        node.vendorID == 0x119f && ((id >= 0x1b02 && id <= 0x1b50) || id == 0x1ba0 || id == 0x1bd0 || id == 0x1bf0);
    return switch_chip || adapter_chip || bull;
}

} // namespace comad::discovery
