// SPDX-License-Identifier: MIT
// two_port_adapters.hpp - a subnet of two hosts, whose adapters have two ports, and three switches.
#pragma once
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::test {

/// The ports of host B that have a cable.
enum class cabled_ports_of_b : u8 { both, only_second };

/// Returns a subnet in which both ports of host A are cabled to different switches.
inline transports::sim::topology two_port_adapters(cabled_ports_of_b ports) {
    constexpr transports::sim::link_codes edr{2, 16};
    transports::sim::topology t;
    const u32 a = t.add_node(iba::NodeType::CA, 2, iba::guid{0xa0}, "A", edr);
    const u32 b = t.add_node(iba::NodeType::CA, 2, iba::guid{0xb0}, "B", edr);
    const u32 left = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x10}, "left", edr);
    const u32 right = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x20}, "right", edr);
    const u32 middle = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x30}, "middle", edr);
    t.link(a, 1, left, 1);
    t.link(a, 2, right, 1);
    if (ports == cabled_ports_of_b::both) t.link(b, 1, left, 2);
    t.link(b, 2, right, 2);
    t.link(left, 4, middle, 1);
    t.link(middle, 2, right, 4);
    bring_up(t);
    return t;
}

} // namespace comad::test
