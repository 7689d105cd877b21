// SPDX-License-Identifier: MIT
// manager_sweep.cpp - what the simulated subnet manager changes after the start: new links, LIDs and routes.
#include "attributes.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

constexpr unsigned end_of_unicast_lids = 0xc000;

} // namespace

void attributes::use_spread_routes(router& other) {
    spread_ = std::make_unique<spread_routes>(topology_);
    forwarding_.ways().spread(*spread_);
    other.spread(*spread_);
    forwarding_.topology_changed();
}

/// Returns which nodes the manager's directed routes reach.
std::vector<bool> attributes::reached_by_manager(const std::function<bool(u32 node)>& is_mute) const {
    std::vector<bool> reached(topology_.nodes.size());
    const router::node_port manager = forwarding_.manager();
    if (manager.node == topology::no_node || sm_state_ != iba::SMState::Master || is_mute(manager.node)) return reached;
    reached[manager.node] = true;
    std::vector<u32> queue{manager.node};
    for (std::size_t done = 0; done < queue.size(); ++done) {
        const node& at = topology_.nodes[queue[done]];
        if (!at.is_switch() && done != 0) continue;
        for (unsigned p = 1; p <= at.num_ports(); ++p) {
            const port& out = at.ports[p];
            if (!out.is_up() || (!at.is_switch() && p != manager.port)) continue;
            if (reached[out.peer_node] || is_mute(out.peer_node)) continue;
            reached[out.peer_node] = true;
            queue.push_back(out.peer_node);
        }
    }
    return reached;
}

/// Sets one end of a link to Active. Returns false if it was Active or is down.
bool attributes::activate(u32 number, unsigned which) {
    node& n = topology_.nodes[number];
    port& p = n.ports[which];
    if (!p.is_up() || p.state == iba::PortState::Active) return false;
    p.state = iba::PortState::Active;
    if (!n.is_switch()) service_changes_.push_back({number, static_cast<u8>(which), true});
    return true;
}

/// Gives free LIDs to the end ports without one. Returns whether there was such a port.
bool attributes::give_lids(const std::vector<bool>& reached) {
    std::vector<port*> without;
    std::vector<bool> is_used(end_of_unicast_lids);
    for (u32 number = 0; number < topology_.nodes.size(); ++number) {
        node& n = topology_.nodes[number];
        const unsigned last = n.is_switch() ? 0 : n.num_ports();
        for (unsigned which = n.first_port(); which <= last; ++which) {
            port& p = n.ports[which];
            const unsigned end = !p.has_lid() ? 0 : std::min(value(p.LID) + (1u << p.LMC), end_of_unicast_lids);
            for (unsigned LID = value(p.LID); LID < end; ++LID) is_used[LID] = true;
            if (!p.has_lid() && reached[number] && (which == 0 || p.is_up())) without.push_back(&p);
        }
    }
    unsigned next = 1;
    for (port* p : without) {
        while (next < end_of_unicast_lids && is_used[next]) ++next;
        if (next == end_of_unicast_lids) break;
        p->LID = iba::lid{static_cast<u16>(next++)};
    }
    return !without.empty();
}

void attributes::sweep(const std::function<bool(u32 node)>& is_mute) {
    const std::vector<bool> reached = reached_by_manager(is_mute);
    if (std::find(reached.begin(), reached.end(), true) == reached.end()) return;
    bool has_changed = give_lids(reached);
    for (u32 number = 0; number < topology_.nodes.size(); ++number) {
        if (!reached[number]) continue;
        for (unsigned which = 1; which <= topology_.nodes[number].num_ports(); ++which) {
            const port& p = topology_.nodes[number].ports[which];
            if (p.linked() && reached[p.peer_node] && activate(number, which)) has_changed = true;
        }
    }
    if (!has_changed) return;
    forwarding_.topology_changed();
    changed_ = true;
}

} // namespace comad::transports::sim
