// SPDX-License-Identifier: MIT
// counter_groups.hpp - a port's counters by cause, kind of packet, lane and level, as attributes of performance management
// have them. Knows no time and no port.
#pragma once
#include <comad/iba/pm.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <array>

namespace comad::transports::sim {

/// Counters of an attribute in the order of the bits that select them. PortExtendedSpeedsCounters has the most: behind its
/// own the last three of its RS-FEC view, which has all others in common with it. Those of PortCounters are in
/// PortCountersExt, in the order of its fields.
using counter_row = std::array<u64, 41>;

/// What tells ports apart: causes that only switches have, and the width and speed of the cable.
struct port_traits {
    bool is_switch;
    link_codes link;
};

/// How many of so many packets go to a multicast group.
u64 multicast_of(u64 packets) noexcept;

/// The counters of an attribute where a port's are `all`: parts that add up to them, and never fall while they grow.
/// `opCode`: of attributes that have one.
counter_row parts_of(const iba::pm::PortCountersExt& all, u16 attributeID, u8 opCode, const port_traits&) noexcept;

} // namespace comad::transports::sim
