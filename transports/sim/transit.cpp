// SPDX-License-Identifier: MIT
// transit.cpp - moves directed-route SMPs from switch to switch (IBA 14.2.2) if forwarding takes time. It does not depend on agents.
#include "fabric_core.hpp"
#include "router.hpp"
#include <comad/iba/detail/smp/format.hpp>

#include <algorithm>

namespace comad::transports::sim {
namespace {

using iba::smp::FormatDirected;
using directed_header = iba::MADHeaderDirected;

/// Positions on a directed route. 0 to `hops` are the nodes of the directed part; -1 and hops + 1 are the ends of the
/// LID-routed parts before and after it.
struct positions {
    int sender, destination;
    int hops;
};

positions positions_of(const u8* smp, iba::lid DLID) noexcept {
    const int hops = iba::get<&directed_header::hopCount>(smp);
    const bool ends_there = iba::get<&FormatDirected::drDLID>(smp) == iba::permissive_lid;
    return {DLID == iba::permissive_lid ? 0 : -1, ends_there ? hops : hops + 1, hops};
}

u8 path_port(const u8* smp, std::size_t path, int hop) noexcept { return smp[path + static_cast<std::size_t>(hop)]; }
constexpr std::size_t there = iba::offset_of<&FormatDirected::initialPath>;
constexpr std::size_t back = iba::offset_of<&FormatDirected::returnPath>;

} // namespace

/// Sets the start of the route. A reply starts where its request was served.
void fabric_core::set_out(packet& p, stage end) const noexcept {
    const positions at = positions_of(p.mad.data(), p.headers.DLID);
    p.position = end == stage::delivery ? at.destination : at.sender;
    p.passing = end == stage::delivery ? p.node : endpoints_[p.endpoint].node;
}

/// Sends the packet at `when` from its present node to the next one, which forwards it unless it is the last.
void fabric_core::go_on(u32 index, mad::time_point when) noexcept {
    packet& p = packets_[index];
    const u8* smp = p.mad.data();
    const positions at = positions_of(smp, p.headers.DLID);
    const bool returns = iba::get<&directed_header::D>(smp);
    const int next = returns ? p.position - 1 : p.position + 1;
    const int lower = std::min(p.position, next);
    unsigned cables = 1;
    if (lower < 0 || lower == at.hops) {
        cables = lower < 0 ? p.hops_before : p.hops - p.hops_before - static_cast<unsigned>(at.hops);
        p.passing = lower < 0 ? p.route_begin : p.route_end;
        p.passing_port = 0; // unknown after a LID-routed part
    } else {
        const port& out = topology_.nodes[p.passing].ports[path_port(smp, returns ? back : there, lower + 1)];
        if (!out.is_up()) return drop(index);
        p.passing = out.peer_node;
        p.passing_port = out.peer_port;
    }
    p.position = next;
    const bool is_last = next == (returns ? at.sender : at.destination);
    schedule(when + crossing(cables), !is_last ? stage::passage : returns ? stage::delivery : stage::arrival, index);
}

void fabric_core::on_passage(u32 index) noexcept {
    const packet& p = packets_[index];
    if (router_->is_mute(p.passing)) return drop(index);
    occupy(index, p.passing, p.passing_port, timing_.transit, stage::passed);
}

void fabric_core::on_passed(u32 index) noexcept {
    const packet& p = packets_[index];
    --nodes_[p.passing].counters.held;
    if (router_->is_mute(p.passing)) return drop(index);
    go_on(index, now_);
}

} // namespace comad::transports::sim
