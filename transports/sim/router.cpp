// SPDX-License-Identifier: MIT
// router.cpp - routes MADs through a simulated topology.
#include "router.hpp"

#include "rates.hpp"
#include <comad/iba/smp.hpp>

#include <algorithm>
#include <limits>

namespace comad::transports::sim {
namespace {

using iba::smp::FormatDirected;
using directed_header = iba::MADHeaderDirected;

constexpr u32 unreachable = std::numeric_limits<u32>::max();

bool carries_lids(const port& p) noexcept { return p.linked() && p.state == iba::PortState::Active; }

} // namespace

router::router(const topology& t, const overrides& tables)
    : topology_(t), tables_(tables), mute_(t.nodes.size()), by_lid_(0x10000, node_port{topology::no_node, 0}) {
    queue_.reserve(t.nodes.size());
}

void router::find_owners() noexcept {
    is_stale_ = false;
    for (tree& t : trees_) t.origin = {topology::no_node, 0};
    std::fill(by_lid_.begin(), by_lid_.end(), node_port{topology::no_node, 0});
    for (u32 n = 0; n < topology_.nodes.size(); ++n) {
        const node& x = topology_.nodes[n];
        const unsigned last = x.is_switch() ? 0 : x.num_ports();
        for (unsigned p = x.first_port(); p <= last; ++p) {
            const unsigned base = value(x.ports[p].LID);
            const unsigned end = !x.ports[p].has_lid() ? 0 : std::min(base + (1u << x.ports[p].LMC), 0xc000u);
            for (unsigned lid = base; lid < end; ++lid) by_lid_[lid] = {n, static_cast<u8>(p)};
        }
    }
}

const router::tree& router::tree_from(node_port origin) noexcept {
    constexpr std::size_t most_trees = 16;
    if (is_stale_) find_owners();
    for (const tree& t : trees_)
        if (t.origin.node == origin.node && t.origin.port == origin.port) return t;
    if (trees_.size() < most_trees) {
        oldest_ = trees_.size();
        trees_.emplace_back();
    }
    tree& t = trees_[oldest_];
    oldest_ = (oldest_ + 1) % most_trees;
    t.origin = origin;
    grow(t);
    return t;
}

void router::grow(tree& t) noexcept {
    const node_port origin = t.origin;
    t.nodes.assign(topology_.nodes.size(), {unreachable, no_cable, 0, 0});
    t.nodes[origin.node].hops = 0;
    queue_.assign(1, origin.node);
    for (std::size_t done = 0; done < queue_.size(); ++done) {
        const u32 at = queue_[done];
        const reached here = t.nodes[at];
        const node& x = topology_.nodes[at];
        if (!x.is_switch() && done != 0) continue; // a CA does not forward
        for (unsigned p = 1; p <= x.num_ports(); ++p) {
            if (!x.is_switch() && p != origin.port) continue;
            const port& out = x.ports[p];
            if (!carries_lids(out) || t.nodes[out.peer_node].hops != unreachable) continue;
            t.nodes[out.peer_node] = {here.hops + 1, std::min(here.slowest, tenths_of_gbps(out.active)), out.peer_port,
                                      done == 0 ? static_cast<u8>(p) : here.first_port};
            queue_.push_back(out.peer_node);
        }
    }
}

std::optional<router::stop> router::by_lid(node_port from, iba::lid to, std::optional<u8> SL) noexcept {
    if (to == iba::permissive_lid) return stop{from.node, from.port, 0};
    const node_port target = owner(to);
    if (target.node == topology::no_node) return std::nullopt;
    const node& x = topology_.nodes[target.node];
    if (target.node == from.node && (x.is_switch() || target.port == from.port)) return stop{from.node, from.port, 0};
    return follows_tables() ? along_tables(from, to, target, SL) : shortest(from, target);
}

std::optional<router::stop> router::shortest(node_port from, node_port target) noexcept {
    const node& x = topology_.nodes[target.node];
    const auto& to = tree_from(from).nodes;
    if (x.is_switch()) {
        const reached& end = to[target.node];
        if (end.hops == unreachable) return std::nullopt;
        return stop{target.node, end.arrival_port, end.hops, end.first_port, end.slowest};
    }
    // A CA has a LID at each port, and only one cable leads to that port.
    const port& in = x.ports[target.port];
    if (!carries_lids(in) || to[in.peer_node].hops == unreachable) return std::nullopt;
    const bool neighbour_sends = in.peer_node == from.node && in.peer_port == from.port;
    if (!topology_.nodes[in.peer_node].is_switch() && !neighbour_sends) return std::nullopt;
    const reached& neighbour = to[in.peer_node];
    const u8 first = in.peer_node == from.node ? in.peer_port : neighbour.first_port;
    return stop{target.node, target.port, neighbour.hops + 1, first,
                std::min(neighbour.slowest, tenths_of_gbps(in.active))};
}

/// Uses the written table if there is one. Otherwise, uses the table that the initial subnet manager, if any, left in
/// the switch.
u8 router::port_to(u32 node, iba::lid to) noexcept {
    if (const auto port = tables_.port_to(node, to)) return *port;
    const node_port target = owner(to);
    if (value(topology_.sm_lid) == 0 || target.node == topology::no_node) return overrides::no_port;
    if (node == target.node) return 0;
    if (spread_) return spread_->port_to(node, to);
    const auto way = shortest({node, 0}, target);
    return way ? way->first_port : overrides::no_port;
}

std::optional<router::stop> router::along_tables(node_port from, iba::lid to, node_port target,
                                                 std::optional<u8> SL) noexcept {
    stop at{from.node, from.port, 0};
    while (at.hops <= topology_.nodes.size()) { // tables may contain loops
        const node& x = topology_.nodes[at.node];
        const bool is_end = !x.is_switch() && at.hops != 0;
        if (is_end && (at.node != target.node || at.port != target.port)) return std::nullopt;
        if (is_end) return at;
        const u8 by = x.is_switch() ? port_to(at.node, to) : from.port;
        if (by == 0 && at.node == target.node) return at;
        if (by == 0 || by > x.num_ports() || !carries_lids(x.ports[by])) return std::nullopt;
        if (SL && !tables_.has_lane(at.node, x.is_switch() ? std::optional(at.port) : std::nullopt, by, *SL))
            return std::nullopt;
        const port& out = x.ports[by];
        at = {out.peer_node, out.peer_port, at.hops + 1, at.hops == 0 ? by : at.first_port,
              std::min(at.slowest, tenths_of_gbps(out.active))};
    }
    return std::nullopt;
}

bool router::back_by_lid(node_port from, iba::lid DLID, node_port at, iba::lid SLID, std::optional<u8> SL) noexcept {
    const bool is_here = at.node == from.node && at.port == from.port;
    // Without written tables, the shortest way back equals the way there.
    return is_here || (follows_tables() ? by_lid(at, SLID, SL) : by_lid(from, DLID)).has_value();
}

std::optional<router::directed_stop> router::by_route(node_port from, iba::lid DLID, u8* smp) noexcept {
    const unsigned hops = iba::get<&directed_header::hopCount>(smp);
    if (iba::get<&directed_header::D>(smp) || iba::get<&directed_header::hopPointer>(smp) != 0 ||
        hops > mad::IBDRPath::max_hops) {
        return std::nullopt;
    }
    const bool begins_here = DLID == iba::permissive_lid;
    std::optional<stop> at = by_lid(from, DLID);
    if (!at) return std::nullopt;
    const stop begin = *at;

    const u8* initial = smp + iba::offset_of<&FormatDirected::initialPath>;
    u8* back = smp + iba::offset_of<&FormatDirected::returnPath>;
    for (unsigned hop = 1; hop <= hops; ++hop) {
        const node& x = topology_.nodes[at->node];
        // Only the sender may be a CA, and it must send through the program's port (C14-9:1 in the kernel's smi.c).
        const bool sends = x.is_switch() || (hop == 1 && begins_here && initial[hop] == from.port);
        if (!sends || is_mute(at->node) || initial[hop] == 0 || initial[hop] > x.num_ports()) return std::nullopt;
        const port& out = x.ports[initial[hop]];
        if (!out.is_up()) return std::nullopt;
        back[hop] = out.peer_port;
        at = stop{out.peer_node, out.peer_port, at->hops + 1};
    }
    const u32 end_node = at->node;

    if (const iba::lid drDLID = iba::get<&FormatDirected::drDLID>(smp); drDLID != iba::permissive_lid) {
        if (!topology_.nodes[at->node].is_switch() || is_mute(at->node)) return std::nullopt;
        const auto rest = by_lid({at->node, 0}, drDLID);
        if (!rest) return std::nullopt;
        at = stop{rest->node, rest->port, at->hops + rest->hops};
    }
    return directed_stop{*at, begin.node, end_node, begin.hops};
}

bool router::back_by_route(node_port from, iba::lid DLID, const directed_stop& at, u8* smp) noexcept {
    const u8* back = smp + iba::offset_of<&FormatDirected::returnPath>;
    if (at.end.node != at.end_node && !by_lid({at.end_node, 0}, iba::get<&FormatDirected::drDLID>(smp))) return false;
    u32 node_at = at.end_node;
    for (unsigned hop = iba::get<&directed_header::hopCount>(smp); hop > 0; --hop) {
        const node& x = topology_.nodes[node_at];
        if (is_mute(node_at) || !x.ports[back[hop]].is_up()) return false;
        node_at = x.ports[back[hop]].peer_node;
    }
    if (node_at != at.begin_node) return false;
    // At the end of the directed part, DrSLID selects the destination; the permissive LID means this node.
    const iba::lid drSLID = iba::get<&FormatDirected::drSLID>(smp);
    if (DLID == iba::permissive_lid) {
        if (drSLID != iba::permissive_lid) return false;
    } else {
        const node_port home = owner(drSLID);
        if (home.node != from.node || home.port != from.port || !by_lid(from, DLID)) return false;
    }
    iba::put<&directed_header::D>(smp, true);
    iba::put<&directed_header::hopPointer>(smp, 0);
    return true;
}

} // namespace comad::transports::sim
