// SPDX-License-Identifier: MIT
// discovery_bound.cpp - computes the least time of a discovery: counts its queries, and finds the shortest chain of dependent replies to
// each node.
#include <comad/transports/detail/discovery_bound.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace comad::transports::sim {
namespace {

constexpr u64 not_reached = ~u64{0};

/// The nodes that directed routes from one port reach. A CA forwards nothing; only the CA where the routes start
/// sends.
class explorer {
public:
    explorer(const topology& t, u32 start, unsigned start_port) : topology_(t), start_(start), start_port_(start_port) {
        hops_ = quickest([](u32, unsigned) { return 1; });
    }

    bool is_reached(u32 n) const noexcept { return hops_[n] != not_reached; }
    u64 hops(u32 n) const noexcept { return hops_[n]; }
    const node& at(u32 n) const noexcept { return topology_.nodes[n]; }
    bool sends(u32 n, unsigned port) const noexcept {
        return (at(n).is_switch() || (n == start_ && port == start_port_)) && at(n).ports[port].is_up();
    }

    /// Returns for each node the minimum over all routes of the sum of `cost(node, output port)`.
    template <class Cost> std::vector<u64> quickest(const Cost& cost) const {
        std::vector<u64> when(topology_.nodes.size(), not_reached);
        using reached = std::pair<u64, u32>;
        std::priority_queue<reached, std::vector<reached>, std::greater<>> next;
        const auto reach = [&](u32 n, u64 then) {
            if (then >= when[n]) return;
            when[n] = then;
            next.emplace(then, n);
        };
        reach(start_, 0);
        while (!next.empty()) {
            const auto [then, n] = next.top();
            next.pop();
            if (then != when[n]) continue;
            for (unsigned p = 1; p <= at(n).num_ports(); ++p)
                if (sends(n, p)) reach(at(n).ports[p].peer_node, then + cost(n, p));
        }
        return when;
    }

    /// Returns the number of PortInfos that describe a node's ports.
    u64 PortInfos(u32 n) const noexcept {
        if (at(n).is_switch()) return at(n).num_ports() + 1;
        u64 known = 0;
        for (unsigned p = 1; p <= at(n).num_ports(); ++p) known += is_known(n, p);
        return known;
    }
    u64 smps(u32 n) const noexcept { return 2 + at(n).is_switch() + PortInfos(n); }

private:
    /// Returns whether a port of a reached CA is known: the port where the routes start, and ports that a cable
    /// connects to a reached switch.
    bool is_known(u32 n, unsigned p) const noexcept {
        if (n == start_ && p == start_port_) return true;
        const port& x = at(n).ports[p];
        return x.is_up() && sends(x.peer_node, x.peer_port) && is_reached(x.peer_node);
    }

    const topology& topology_;
    u32 start_;
    unsigned start_port_;
    std::vector<u64> hops_;
};

} // namespace

std::vector<bool> reached_nodes(const topology& t, u32 start, unsigned port) {
    const explorer graph(t, start, port);
    std::vector<bool> reached;
    for (u32 n = 0; n < t.nodes.size(); ++n) reached.push_back(graph.is_reached(n));
    return reached;
}

discovery_bound bound_discovery(const topology& t, u32 start, unsigned start_port, const discovery_limits& limits) {
    const explorer graph(t, start, start_port);
    const auto round_trips = [&](u64 smps) {
        return limits.per_destination == 0 ? u64{1} : (smps + limits.per_destination - 1) / limits.per_destination;
    };
    const auto ports_before = [&](u32 n, unsigned port) { return graph.at(n).is_switch() ? u64{port} : u64{1}; };

    discovery_bound b;
    const auto any_order = graph.quickest([&](u32, unsigned) { return round_trips(2); });
    const auto by_port = graph.quickest([&](u32 n, unsigned p) { return round_trips(1 + ports_before(n, p)); });
    const auto without_speculation =
        graph.quickest([&](u32 n, unsigned p) { return 1 + round_trips(ports_before(n, p)); });
    u64 cables = 0; // each cable is queried through one of its ends
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        if (!graph.is_reached(n)) continue;
        const u64 smps = graph.smps(n);
        ++b.nodes;
        b.smps += smps - 1; // all except NodeInfo
        b.hops = std::max(b.hops, static_cast<unsigned>(graph.hops(n)));
        b.any_order = std::max(b.any_order, any_order[n] + round_trips(smps));
        b.in_order = std::max(b.in_order, by_port[n] + round_trips(smps));
        b.without_speculation = std::max(b.without_speculation, without_speculation[n] + 1 + round_trips(smps - 1));
        for (unsigned p = 1; p <= graph.at(n).num_ports(); ++p) {
            const port& x = graph.at(n).ports[p];
            const bool from_both = x.is_up() && graph.sends(x.peer_node, x.peer_port);
            if (graph.sends(n, p))
                cables += !from_both || std::pair(n, p) < std::pair(x.peer_node, unsigned{x.peer_port});
        }
    }
    b.smps += cables + 1; // plus the NodeInfo of the local node

    b.by_depth = limits.round_trip * static_cast<mad::duration::rep>(b.in_order);
    u64 parallel = limits.per_destination == 0 ? b.smps : b.nodes * limits.per_destination;
    if (limits.window != 0) parallel = std::min(parallel, u64{limits.window});
    b.by_window =
        mad::duration(static_cast<mad::duration::rep>(b.smps * static_cast<u64>(limits.round_trip.count()) / parallel));
    return b;
}

} // namespace comad::transports::sim
