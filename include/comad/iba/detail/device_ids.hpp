// SPDX-License-Identifier: MIT
// device_ids.hpp - the devices that reply to vendor attributes of subnet management, by vendor ID and device ID.
#pragma once
#include <comad/iba/types.hpp>

#include <algorithm>
#include <array>

namespace comad::iba {

/// Returns whether infiniband-diags sends MlnxExtPortInfo (SMP 0xff90) to this device, because the device is known to
/// reply. Other devices may ignore the request. As in rdma-core (libibnetdisc/ibnetdisc.c,
/// is_mlnx_ext_port_info_supported), the vendor ID only matters for the chips that Bull sells under its own vendor ID.
constexpr bool has_mlnx_ext_port_info(u32 vendorID, u16 deviceID) noexcept {
    struct range {
        u16 first, last;
        constexpr bool contains(u16 ID) const noexcept { return first <= ID && ID <= last; }
    };
    // SwitchX, Switch-IB, Switch-IB 2, Quantum; ConnectX-3 to ConnectX-5, ConnectX-6, BlueField
    constexpr std::array mellanox{range{0xc738, 0xc73b}, range{0xc839, 0xc839}, range{0xcb20, 0xcb20},
                                  range{0xcf08, 0xcf09}, range{0xd2f0, 0xd2f0}, range{0x1003, 0x101b},
                                  range{0xa2d2, 0xa2d2}};
    constexpr u32 bull_vendor = 0x119f;
    constexpr std::array bull{range{0x1b02, 0x1b02}, range{0x1b33, 0x1b33}, range{0x1b40, 0x1b41},
                              range{0x1b50, 0x1b50}, range{0x1b60, 0x1b61}, range{0x1b73, 0x1b73},
                              range{0x1b83, 0x1b83}, range{0x1b93, 0x1b94}, range{0x1ba0, 0x1ba0},
                              range{0x1bb4, 0x1bb5}, range{0x1bc4, 0x1bc6}, range{0x1bd0, 0x1bd5},
                              range{0x1bf0, 0x1bf0}};
    const auto has_device = [deviceID](const range& r) { return r.contains(deviceID); };
    return std::ranges::any_of(mellanox, has_device) ||
           (vendorID == bull_vendor && std::ranges::any_of(bull, has_device));
}

} // namespace comad::iba
