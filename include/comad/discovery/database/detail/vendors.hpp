// SPDX-License-Identifier: MIT
// vendors.hpp - decides by vendor ID and device ID which devices support vendor-specific SMPs. Sends nothing.
#pragma once
#include <comad/iba/detail/device_ids.hpp>
#include <comad/iba/smp.hpp>

namespace comad::discovery {

/// Returns whether a discovery sends MlnxExtPortInfo (SMP 0xff90) to this device (iba/device_ids.hpp).
constexpr bool has_mlnx_ext_port_info(const iba::smp::NodeInfo& node) noexcept {
    return iba::has_mlnx_ext_port_info(node.vendorID, node.deviceID);
}

/// Returns whether a switch supports SMP 0xff20 (MlnxARInfo): the chips of Mellanox from SwitchX to Quantum-3, under every vendor ID
/// under which they are sold. On any other device the query would time out.
constexpr bool has_mlnx_ar_info(const iba::smp::NodeInfo& node) noexcept {
    const u16 id = node.deviceID;
    return node.nodeType == iba::NodeType::Switch && ((id >= 0xc738 && id <= 0xc73b) || id == 0xcb20 || id == 0xcf08 ||
                                                      id == 0xd2f0 || id == 0xd2f2 || id == 0xd2f4);
}

/// Returns whether a tick of this device is a number of bytes of the link, as NVIDIA documents for Quantum to Quantum-3 (ibdiagnet user
/// manual, "Congestion Assessment on InfiniBand Links"). On other devices it is a number of bytes of one lane (IBA 16.1.3.2).
constexpr bool is_tick_of_link(const iba::smp::NodeInfo& node) noexcept {
    const u16 id = node.deviceID;
    return node.nodeType == iba::NodeType::Switch && (id == 0xd2f0 || id == 0xd2f2 || id == 0xd2f4);
}

} // namespace comad::discovery
