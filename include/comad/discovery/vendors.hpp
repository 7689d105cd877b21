// SPDX-License-Identifier: MIT
// vendors.hpp - which devices answer vendors' own SMPs, as their IDs tell. Sends nothing.
#pragma once
#include <comad/iba/device_ids.hpp>
#include <comad/iba/smp.hpp>

namespace comad::discovery {

/// Whether a discovery sends MlnxExtPortInfo (SMP 0xff90) to this device (iba/device_ids.hpp).
constexpr bool has_mlnx_ext_port_info(const iba::smp::NodeInfo& node) noexcept {
    return iba::has_mlnx_ext_port_info(node.vendorID, node.deviceID);
}

} // namespace comad::discovery
