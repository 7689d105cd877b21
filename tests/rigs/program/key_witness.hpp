// SPDX-License-Identifier: MIT
// key_witness.hpp - a subnet in which each port has its own M_Key, and a check that each SMP contains the M_Key of its
// target port.
#pragma once
#include "library/discovery_rig.hpp"
#include <comad/iba/smp.hpp>
#include <comad/mad/port_keys.hpp>

namespace comad::test {

/// Returns a different M_Key for each port of the subnet, derived from its GUID.
inline mad::port_keys different_keys(const topology& t) {
    mad::port_keys keys;
    for (const auto& n : t.nodes)
        for (const auto& p : n.ports) keys.set(mad::key_kind::MKey, p.GUID, value(p.GUID) * 3);
    return keys;
}

/// Counts three kinds of SMPs: with the M_Key of their target port, NodeInfo queries with the default M_Key, and all
/// others.
struct key_witness final : mad::trace_sink {
    key_witness(const world& w, const mad::port_keys& k) : where(w), keys(k) {}
    void on_event(const mad::trace_event& e) noexcept override {
        if (e.what != mad::trace_event::kind::send) return;
        const auto& route = *mad::directed(*e.path);
        const u64 key = iba::get<&iba::smp::FormatDirected::MKey>(e.request.data());
        const bool is_node_info = iba::get<&iba::MADHeader::attributeID>(e.request.data()) == 0x11; // NodeInfo
        if (is_node_info && key == keys.default_of(mad::key_kind::MKey)) ++requested;
        else ++(key == keys.of(mad::key_kind::MKey, port_at(route)) ? right : wrong);
    }
    /// Returns the GUID of the end port that a route reaches. This is the local port for an empty route, and port 0 for
    /// a switch.
    iba::guid port_at(const IBDRPath& route) const {
        const topology& t = where.net.graph();
        u32 node = where.port.node();
        unsigned entered = where.port.port();
        for (const u8 out : route.hops()) {
            const transports::sim::port& p = t.nodes[node].ports[out];
            node = p.peer_node;
            entered = p.peer_port;
        }
        return t.nodes[node].ports[t.nodes[node].is_switch() ? 0 : entered].GUID;
    }
    const world& where;
    const mad::port_keys& keys;
    unsigned requested = 0, right = 0, wrong = 0;
};

} // namespace comad::test
