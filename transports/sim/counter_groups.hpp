// SPDX-License-Identifier: MIT
// counter_groups.hpp - splits a port's counters by cause, packet type, lane and service level, as performance management attributes
// report them. It does not depend on time or on a particular port.
#pragma once
#include <comad/iba/pm.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <array>

namespace comad::transports::sim {

/// The counters of an attribute, in the order of the bits that select them. PortExtendedSpeedsCounters has the most:
/// its own counters, followed by the last three of its RS-FEC view, which shares the others. Counters of PortCounters
/// are those of PortCountersExt, in the order of its fields.
using counter_row = std::array<u64, 41>;

/// What a port has counted because of its bit error rate (bit_errors.hpp).
struct bit_error_counts {
    u64 symbol_errors = 0, damaged_packets = 0, corrected_symbols = 0, correctable_blocks = 0, uncorrectable_blocks = 0;
};

/// The properties that distinguish ports: whether the node is a switch, the width and speed of the cable, and bit errors, which
/// are not part of the other counters.
struct port_traits {
    bool is_switch;
    link_codes link;
    bit_error_counts bit_errors{};
};

/// Returns how many of `packets` go to a multicast group.
u64 multicast_of(u64 packets) noexcept;

/// Returns the counters of an attribute for a port with the counters `all`. The parts add up to `all`, and never
/// decrease while `all` increases. `opCode`: for attributes that have one.
counter_row parts_of(const iba::pm::PortCountersExt& all, u16 attributeID, u8 opCode, const port_traits&) noexcept;

} // namespace comad::transports::sim
