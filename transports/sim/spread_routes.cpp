// SPDX-License-Identifier: MIT
// spread_routes.cpp - calculates forwarding tables, one destination switch after the other.
#include "spread_routes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace comad::transports::sim {
namespace {

constexpr unsigned no_distance = std::numeric_limits<unsigned>::max();
constexpr u32 no_switch = topology::no_node;

} // namespace

/// Returns whether both ends are Active. A manager can set only one of them to Active, and a route needs both directions.
bool spread_routes::has_active_link(const port& p) const noexcept {
    return p.linked() && p.state == iba::PortState::Active &&
           topology_.nodes[p.peer_node].ports[p.peer_port].state == iba::PortState::Active;
}

u8 spread_routes::port_to(u32 node, iba::lid to) {
    if (is_stale_) calculate();
    const u32 number = numbers_[node];
    if (number == no_switch) return no_port;
    const std::vector<u8>& table = switches_[number].table;
    return value(to) < table.size() ? table[value(to)] : no_port;
}

void spread_routes::calculate() {
    is_stale_ = false;
    find_switches();
    find_lids();
    for (u32 number = 0; number < switches_.size(); ++number) route_to(number);
}

void spread_routes::find_switches() {
    switches_.clear();
    numbers_.assign(topology_.nodes.size(), no_switch);
    for (u32 n = 0; n < topology_.nodes.size(); ++n) {
        if (!topology_.nodes[n].is_switch()) continue;
        numbers_[n] = static_cast<u32>(switches_.size());
        switches_.emplace_back().node = n;
    }
    hosts_.clear();
    for (forwarding_switch& s : switches_) {
        const node& n = topology_.nodes[s.node];
        for (unsigned p = 1; p <= n.num_ports(); ++p)
            if (has_active_link(n.ports[p]) && numbers_[n.ports[p].peer_node] != no_switch)
                s.ways.push_back({static_cast<u8>(p), numbers_[n.ports[p].peer_node]});
        hosts_.emplace_back(n.num_ports() + 1);
    }
    own_ = hosts_;
}

void spread_routes::find_lids() {
    unsigned top = 0;
    const auto add = [&top](std::vector<attached_lid>& to, const port& p, u8 out) {
        constexpr unsigned end_of_unicast = 0xc000;
        const unsigned end = !p.has_lid() ? 0 : std::min(value(p.LID) + (1u << p.LMC), end_of_unicast);
        for (unsigned LID = value(p.LID); LID < end; ++LID) to.push_back({LID, out});
        if (end != 0) top = std::max(top, end - 1);
    };
    for (const node& n : topology_.nodes) {
        if (n.is_switch()) continue;
        for (unsigned p = 1; p <= n.num_ports(); ++p)
            if (has_active_link(n.ports[p]) && numbers_[n.ports[p].peer_node] != no_switch)
                add(switches_[numbers_[n.ports[p].peer_node]].hosts, n.ports[p], n.ports[p].peer_port);
    }
    for (forwarding_switch& s : switches_) add(s.own, topology_.nodes[s.node].ports[0], 0);
    for (forwarding_switch& s : switches_) s.table.assign(top + 1, no_port);
}

void spread_routes::route_to(u32 number) {
    find_shortest(number);
    for (const attached_lid& l : switches_[number].hosts) {
        for (const u32 from : order_) routes_[from] = switches_[from].hosts.size();
        take_least_loaded(number, l, hosts_);
    }
    for (const attached_lid& l : switches_[number].own) {
        for (const u32 from : order_) routes_[from] = 0;
        take_least_loaded(number, l, own_);
    }
}

/// Finds the distances of all switches from one of them, breadth first, and their ways towards it.
void spread_routes::find_shortest(u32 number) {
    hops_.assign(switches_.size(), no_distance);
    shortest_.resize(switches_.size());
    routes_.resize(switches_.size());
    hops_[number] = 0;
    order_.assign(1, number);
    for (std::size_t done = 0; done < order_.size(); ++done) {
        const u32 at = order_[done];
        shortest_[at].clear();
        for (const way& w : switches_[at].ways) {
            if (hops_[w.to] == no_distance) {
                hops_[w.to] = hops_[at] + 1;
                order_.push_back(w.to);
            }
            if (hops_[w.to] + 1 == hops_[at]) shortest_[at].push_back(w);
        }
    }
}

/// Chooses the ports for a LID, the farthest switches first, so that the routes that reach a switch are known.
void spread_routes::take_least_loaded(u32 number, const attached_lid& l, std::vector<load_by_port>& loads) {
    switches_[number].table[l.LID] = l.port;
    for (auto from = order_.rbegin(); from != order_.rend(); ++from) {
        if (*from == number) continue;
        const u64 routes = routes_[*from];
        // A LID without routes takes the port with the most routes, so that the other ports stay free for LIDs with routes.
        load_by_port& own = loads[*from];
        const auto weight = [&](const way& w) {
            const u64 taken = own[w.port].routes;
            return std::pair(own[w.port].LIDs, routes != 0 ? taken : ~taken);
        };
        const auto& ways = shortest_[*from];
        const way best = *std::min_element(ways.begin(), ways.end(),
                                           [&](const way& a, const way& b) { return weight(a) < weight(b); });
        switches_[*from].table[l.LID] = best.port;
        own[best.port].routes += routes;
        ++own[best.port].LIDs;
        routes_[best.to] += routes;
    }
}

} // namespace comad::transports::sim
