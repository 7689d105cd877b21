// SPDX-License-Identifier: MIT
// spread_routes.cpp - calculates forwarding tables, one destination switch after the other.
#include "spread_routes.hpp"

#include <algorithm>
#include <limits>

namespace comad::transports::sim {
namespace {

constexpr unsigned not_reached = std::numeric_limits<unsigned>::max();
constexpr u32 no_switch = topology::no_node;

bool is_active(const port& p) noexcept { return p.linked() && p.state == iba::PortState::Active; }

} // namespace

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
            if (is_active(n.ports[p]) && numbers_[n.ports[p].peer_node] != no_switch)
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
            if (is_active(n.ports[p]) && numbers_[n.ports[p].peer_node] != no_switch)
                add(switches_[numbers_[n.ports[p].peer_node]].hosts, n.ports[p], n.ports[p].peer_port);
    }
    for (forwarding_switch& s : switches_) add(s.own, topology_.nodes[s.node].ports[0], 0);
    for (forwarding_switch& s : switches_) s.table.assign(top + 1, no_port);
}

/// Finds the distances of all switches from one of them, breadth first, and routes its LIDs.
void spread_routes::route_to(u32 number) {
    hops_.assign(switches_.size(), not_reached);
    hops_[number] = 0;
    order_.assign(1, number);
    for (std::size_t done = 0; done < order_.size(); ++done) {
        for (const way& w : switches_[order_[done]].ways) {
            if (hops_[w.to] != not_reached) continue;
            hops_[w.to] = hops_[order_[done]] + 1;
            order_.push_back(w.to);
        }
    }
    take_least_loaded(number, switches_[number].hosts, hosts_);
    take_least_loaded(number, switches_[number].own, own_);
}

void spread_routes::take_least_loaded(u32 number, const std::vector<attached_lid>& lids,
                                      std::vector<load_by_port>& load) {
    for (const attached_lid& l : lids) switches_[number].table[l.LID] = l.port;
    for (const u32 from : order_) {
        if (from == number) continue;
        forwarding_switch& s = switches_[from];
        candidates_.clear();
        for (const way& w : s.ways)
            if (hops_[w.to] + 1 == hops_[from]) candidates_.push_back(w.port);
        for (const attached_lid& l : lids) {
            const u8 best = *std::min_element(candidates_.begin(), candidates_.end(),
                                              [&](u8 a, u8 b) { return load[from][a] < load[from][b]; });
            s.table[l.LID] = best;
            ++load[from][best];
        }
    }
}

} // namespace comad::transports::sim
