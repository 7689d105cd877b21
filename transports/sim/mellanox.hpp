// SPDX-License-Identifier: MIT
// mellanox.hpp - the vendor agents of simulated Mellanox devices, class 0x0a (infiniband-diags' vendstat). Knows no way.
#pragma once
#include <comad/iba/detail/device_ids.hpp>
#include <comad/server/responder.hpp>
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::transports::sim {

/// Its vendor is Mellanox.
constexpr bool is_mellanox(const node& n) noexcept { return n.vendorID == 0x0002c9; }
/// The node responds to MlnxExtPortInfo, the only attribute that tells FDR10 from QDR. Bull sells Mellanox' chips.
constexpr bool has_mlnx_ext_port_info(const node& n) noexcept { return is_mellanox(n) || n.vendorID == 0x00119f; }
/// A link of the node can run at FDR10 so that a discovery finds it: it asks this device, and the device responds.
constexpr bool can_report_fdr10(const node& n) noexcept {
    return has_mlnx_ext_port_info(n) && iba::has_mlnx_ext_port_info(n.vendorID, n.deviceID);
}

/// Answers ClassPortInfo and the general information. Other vendors' devices do not have the class.
server::response answer_mellanox(const node& n, const server::request& r, u64 VSKey = 0);

} // namespace comad::transports::sim
