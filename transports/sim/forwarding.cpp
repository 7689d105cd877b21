// SPDX-License-Identifier: MIT
// forwarding.cpp - calculates forwarding tables from the routes of MADs.
#include "forwarding.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

bool leads_on(const topology& t, const port& p) noexcept {
    return p.linked() && p.state == iba::PortState::Active && t.nodes[p.peer_node].is_switch();
}

void add(forwarding::port_set& ports, unsigned port) noexcept {
    ports[port / 16] = static_cast<u16>(ports[port / 16] | 1u << port % 16);
}

} // namespace

forwarding::forwarding(const topology& t, const overrides& tables) : topology_(t), router_(t, tables) {
    if (value(t.sm_lid) != 0) manager_ = router_.owner(t.sm_lid);
}

u16 forwarding::top() const noexcept {
    if (top_) return *top_;
    unsigned highest = 0;
    for (const node& n : topology_.nodes)
        for (const port& p : n.ports)
            if (p.has_lid()) highest = std::max(highest, value(p.LID) + (1u << p.LMC) - 1);
    top_ = static_cast<u16>(highest);
    return *top_;
}

void forwarding::topology_changed() noexcept {
    top_.reset();
    router_.topology_changed();
    from_manager_.clear();
    broadcast_.clear();
}

u8 forwarding::port_from_manager(u32 node) {
    if (from_manager_.empty()) find_from_manager();
    return from_manager_[node];
}

void forwarding::find_from_manager() {
    from_manager_.assign(topology_.nodes.size(), 0);
    if (manager_.node == topology::no_node) return;
    for (u32 n = 0; n < topology_.nodes.size(); ++n) {
        const node& x = topology_.nodes[n];
        if (!x.is_switch() || !x.ports[0].has_lid()) continue;
        if (const auto way = router_.by_lid(manager_, x.ports[0].LID)) from_manager_[n] = way->port;
    }
}

const forwarding::port_set& forwarding::broadcast_ports(u32 node) {
    if (broadcast_.empty()) grow_tree();
    return broadcast_[node];
}

/// Grows trees breadth first, from each switch that no tree has reached. Every connected CA belongs to the group.
void forwarding::grow_tree() {
    const auto& nodes = topology_.nodes;
    broadcast_.assign(nodes.size(), port_set{});
    std::vector<bool> reached(nodes.size());
    std::vector<u32> queue;
    for (u32 root = 0; root < nodes.size(); ++root) {
        if (!nodes[root].is_switch() || reached[root]) continue;
        reached[root] = true;
        queue.assign(1, root);
        for (std::size_t done = 0; done < queue.size(); ++done) {
            const u32 at = queue[done];
            for (unsigned p = 1; p <= nodes[at].num_ports(); ++p) {
                const port& out = nodes[at].ports[p];
                const bool is_member = out.linked() && out.state == iba::PortState::Active && !leads_on(topology_, out);
                if (is_member) add(broadcast_[at], p);
                if (!leads_on(topology_, out) || reached[out.peer_node]) continue;
                reached[out.peer_node] = true;
                add(broadcast_[at], p);
                add(broadcast_[out.peer_node], out.peer_port);
                queue.push_back(out.peer_node);
            }
        }
    }
}

} // namespace comad::transports::sim
