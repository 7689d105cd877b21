// SPDX-License-Identifier: MIT
// pma.hpp - the performance management agents of a simulated subnet (IBA 16.1). They do not route MADs.
#pragma once
#include "counters.hpp"
#include <comad/server/responder.hpp>

namespace comad::transports::sim {

/// A PMA: its node, its capabilities (pma_ability) and PortSamplesControl.Tick.
struct pma {
    u32 node;
    u8 capabilities;
    u8 tick;
};

/// Replies to ClassPortInfo and all counter attributes except samples (samples.hpp), within the capabilities of the PMA.
/// portSelect 255 selects all ports: a Get returns their sum, a Set changes all.
server::response answer_pma(counters& of, const topology& t, const pma& here, mad::time_point now,
                            const server::request& r);

} // namespace comad::transports::sim
