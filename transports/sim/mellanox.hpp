// SPDX-License-Identifier: MIT
// mellanox.hpp - the vendor agents of simulated Mellanox devices, class 0x0a (infiniband-diags' vendstat). They do not route MADs.
#pragma once
#include <comad/iba/detail/device_ids.hpp>
#include <comad/server/responder.hpp>
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::transports::sim {

/// Returns whether the vendor of the node is Mellanox.
constexpr bool is_mellanox(const node& n) noexcept { return n.vendorID == 0x0002c9; }
/// Returns whether the node replies to MlnxExtPortInfo, the only attribute that distinguishes FDR10 from QDR. Bull
/// sells Mellanox chips.
constexpr bool has_mlnx_ext_port_info(const node& n) noexcept { return is_mellanox(n) || n.vendorID == 0x00119f; }
/// Returns whether a discovery can detect FDR10 links of the node: discoveries query this device type, and the node
/// replies.
constexpr bool can_report_fdr10(const node& n) noexcept {
    return has_mlnx_ext_port_info(n) && iba::has_mlnx_ext_port_info(n.vendorID, n.deviceID);
}

/// Replies to ClassPortInfo and the general information. Devices of other vendors lack the class.
server::response answer_mellanox(const node& n, const server::request& r, u64 VSKey = 0);

} // namespace comad::transports::sim
