// SPDX-License-Identifier: MIT
// made_subnet.hpp - a constructed subnet with a switch, a host and a router. All fields have different values.
#pragma once
#include "subnet/made_records.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace comad::test {

inline constexpr discovery::port_ref made_switch_port{0, 3}, made_host_port{1, 2}, made_router_port{2, 1};

/// Adds a node whose fields have different values. `pattern`: selects the values. Each node uses ten patterns.
inline void add_made_node(discovery::subnet& s, iba::NodeType type, u8 ports, std::string description) {
    const auto index = static_cast<u32>(s.nodes.size());
    unsigned pattern = 1 + 10 * index;
    discovery::node& n = s.nodes.emplace_back();
    n.info = made<iba::smp::NodeInfo>(pattern);
    n.info.nodeType = type;
    n.info.numPorts = ports;
    n.description = std::move(description);
    n.ports.resize(ports + 1u);
    if (n.is_switch()) n.switch_info = made<iba::smp::SwitchInfo>(pattern);
    for (discovery::port& p : n.ports) {
        p.portGUID = made<iba::smp::NodeInfo>(++pattern).portGUID;
        if (&p == &n.ports[0] && !n.is_switch()) continue;
        iba::smp::PortInfo& info = p.info.emplace(made<iba::smp::PortInfo>(pattern));
        info.portState = iba::PortState::Active;
        info.portPhysicalState = iba::PortPhysicalState::LinkUp;
        info.capabilityMask &= ~0x4000u; // without extended speeds (IBA 14.2.5.6, bit 14)
        info.linkWidthSupported = info.linkSpeedSupported = 7;
    }
    s.by_guid.emplace(n.info.nodeGUID, index);
}

/// Returns the subnet. Port 3 of the switch is 4x QDR. Its peer, port 2 of the host, is 8x DDR. The link to the router
/// is 1x SDR. Both ends of a link differ, so that tests can see which end was printed.
inline discovery::subnet made_subnet() {
    using iba::LinkSpeed, iba::LinkWidth;
    discovery::subnet s;
    add_made_node(s, iba::NodeType::Switch, 4, "made switch");
    add_made_node(s, iba::NodeType::CA, 2, "made host");
    add_made_node(s, iba::NodeType::Router, 1, "made router");
    const auto link = [&](discovery::port_ref r, discovery::port_ref peer, LinkWidth width, LinkSpeed speed) {
        discovery::port& p = s.nodes[r.node].ports[r.port];
        p.peer = peer;
        p.info->linkWidthActive = width;
        p.info->linkSpeedActive = speed;
    };
    link(made_switch_port, made_host_port, LinkWidth::w4x, LinkSpeed::QDR);
    link(made_host_port, made_switch_port, LinkWidth::w8x, LinkSpeed::DDR);
    link({0, 1}, made_router_port, LinkWidth::w1x, LinkSpeed::SDR);
    link(made_router_port, {0, 1}, LinkWidth::w1x, LinkSpeed::SDR);
    s.start_port = 2;
    const u8 to_host[] = {3}, to_router[] = {1};
    s.nodes[1].hops = s.nodes[2].hops = 1;
    s.nodes[1].route = mad::IBDRPath(to_host);
    s.nodes[2].route = mad::IBDRPath(to_router);
    return s;
}

/// Returns counters as if both attributes had been read one after the other. The counters have 64-bit values if they
/// exist in 64 bits.
inline counters::reading made_reading(discovery::port_ref where, unsigned pattern) {
    auto reported = made<iba::pm::PortCountersExt>(pattern);
    counters::capabilities can;
    can.extended = can.unicast = can.additional = can.xmit_wait = can.qp1_dropped = true;
    counters::reading r;
    r.where = where;
    r.valid = true;
    r.counters.counters.take(reported, can);
    return r;
}

} // namespace comad::test
