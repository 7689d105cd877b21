// SPDX-License-Identifier: MIT
// pma.hpp - the performance management agents of a simulated subnet (IBA 16.1). Knows no way.
#pragma once
#include "counters.hpp"
#include <comad/server/responder.hpp>

namespace comad::transports::sim {

/// Answers ClassPortInfo, PortCounters and PortCountersExt, which are two views of the same counters. portSelect 255 means
/// all ports: their sum, or a Set of all.
server::response answer_pma(counters& of, const topology& t, u32 node, const server::request& r);

} // namespace comad::transports::sim
