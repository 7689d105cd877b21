// SPDX-License-Identifier: MIT
// mellanox.hpp - the vendor agents of simulated Mellanox devices, class 0x0a (infiniband-diags' vendstat). Knows no way.
#pragma once
#include <comad/server/responder.hpp>
#include <comad/transports/sim/topology.hpp>

namespace comad::transports::sim {

/// Its vendor is Mellanox.
constexpr bool is_mellanox(const node& n) noexcept { return n.vendorID == 0x0002c9; }

/// Answers ClassPortInfo and the general information. Other vendors' devices do not have the class.
server::response answer_mellanox(const node& n, const server::request& r);

} // namespace comad::transports::sim
