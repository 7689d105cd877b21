// SPDX-License-Identifier: MIT
// pma.hpp - the performance management agents of a simulated subnet (IBA 16.1). Knows no way.
#pragma once
#include "counters.hpp"
#include <comad/server/responder.hpp>

namespace comad::transports::sim {

/// Answers ClassPortInfo and all attributes of counters, but for samples, as far as a PMA can: `capabilities` of fabric.hpp.
/// portSelect 255 means all ports: their sum, or a Set of all.
server::response answer_pma(counters& of, const topology& t, u32 node, u8 capabilities, mad::time_point now,
                            const server::request& r);

} // namespace comad::transports::sim
