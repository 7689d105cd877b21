// SPDX-License-Identifier: MIT
// subnet.cpp - sorts and counts the nodes of the subnet database.
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace comad::discovery {

std::size_t subnet::link_count() const noexcept {
    std::size_t ends = 0, loops = 0;
    for (u32 n = 0; n < nodes.size(); ++n) {
        for (u8 p = 0; const port& here : nodes[n].ports) {
            ends += here.peer ? 1 : 0;
            loops += here.peer == port_ref{n, p++} ? 1 : 0; // a cable that leads back into its own port
        }
    }
    return (ends + loops) / 2;
}

iba::lid subnet::lid_at(port_ref r) const noexcept {
    const auto& info = end_port(r).info;
    return info && is_unicast(info->LID) ? info->LID : iba::lid{};
}

std::size_t subnet::count(iba::NodeType type) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const node& n) { return n.info.nodeType == type; }));
}

unsigned subnet::max_hops() const noexcept {
    unsigned hops = 0;
    for (const node& n : nodes) hops = std::max(hops, n.hops);
    return hops;
}

bool is_in_use(const port& p) noexcept {
    using enum iba::PortPhysicalState;
    if (p.peer) return true;
    if (!p.info) return false;
    const iba::PortPhysicalState physical = p.info->portPhysicalState;
    const bool is_quiet = physical == Sleep || physical == Polling || physical == Disabled;
    return p.info->portState != iba::PortState::Down || !is_quiet;
}

std::vector<end_port_ref> end_ports(const subnet& s) {
    constexpr unsigned most_ports = 254; // 255 means all ports
    std::vector<end_port_ref> all;
    const auto add = [&](port_ref where, std::vector<u8> ports) {
        const auto& info = s.at(where).info;
        if (!info) return; // the failures of the discovery contain it
        end_port_ref e{where, {}, std::move(ports)};
        e.path.DLID = info->LID;
        all.push_back(std::move(e));
    };
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        std::vector<u8> in_use;
        for (unsigned p = 1; p < s.nodes[n].ports.size() && p <= most_ports; ++p)
            if (is_in_use(s.nodes[n].ports[p])) in_use.push_back(static_cast<u8>(p));
        if (s.nodes[n].is_switch()) add({n, 0}, std::move(in_use));
        else
            for (const u8 p : in_use) add({n, p}, {p});
    }
    return all;
}

std::string topology_id(const node& n) {
    const char letter = n.is_switch() ? 'S' : n.info.nodeType == iba::NodeType::Router ? 'R' : 'H';
    return fmt::format("{}-{:016x}", letter, value(n.info.nodeGUID));
}

std::string name_of(const node& n) { return fmt::format("{} \"{}\"", topology_id(n), iba::escaped(n.description)); }

std::string describe(const subnet& s, const failure& p) {
    const node* n = s.find(p.where.nodeGUID);
    if (!n) return p.text;
    return p.where.port ? fmt::format("{}[{}]: {}", name_of(*n), p.where.port, p.text)
                        : fmt::format("{}: {}", name_of(*n), p.text);
}

namespace {

/// The nodes in the order of a search.
struct node_order {
    std::vector<u32> nodes;
    u32 reached; ///< the number of nodes that links lead to; they come first
};

// Sorts nodes breadth-first, by port number. Only switches forward directed routes; a CA sends only through the local port.
node_order breadth_first(subnet& s, u32 start) {
    std::vector<u32> order{start};
    std::vector<bool> seen(s.nodes.size());
    seen[start] = true;
    const iba::lid start_lid = s.lid_at({start, s.start_port});
    for (std::size_t next = 0; next < order.size(); ++next) {
        const u32 here = order[next];
        if (here != start && !s.nodes[here].is_switch()) continue;
        for (unsigned p = 1; p < s.nodes[here].ports.size(); ++p) {
            if (!s.nodes[here].is_switch() && p != s.start_port) continue;
            const port_ref peer = s.nodes[here].ports[p].peer;
            if (!peer || seen[peer.node]) continue;
            const auto route = route_beyond(s, {here, static_cast<u8>(p)}, s.nodes[here].route, start_lid);
            if (!route) continue;
            seen[peer.node] = true;
            node& there = s.nodes[peer.node];
            const u64 MKey = there.route.MKey; // the key of the node itself
            there.route = *route;
            there.route.MKey = MKey;
            there.hops = s.nodes[here].hops + 1;
            there.info.localPortNum = peer.port;
            there.info.portGUID = there.ports[peer.port].portGUID;
            order.push_back(peer.node);
        }
    }
    const auto reached = static_cast<u32>(order.size());
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!seen[n]) order.push_back(n);
    }
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(reached), order.end(),
              [&](u32 a, u32 b) { return s.nodes[a].info.nodeGUID < s.nodes[b].info.nodeGUID; });
    return {std::move(order), reached};
}

} // namespace

std::optional<mad::IBDRPath> route_beyond(const subnet& s, port_ref port, const mad::IBDRPath& route_to_it,
                                          iba::lid start_lid) {
    if (route_to_it.can_extend()) return route_to_it.extended(port.port);
    const iba::lid LID = s.lid_at(port);
    if (!is_unicast(LID) || !is_unicast(start_lid)) return std::nullopt;
    return mad::IBDRPath::from_lid(LID, port.port, start_lid);
}

void put_in_order(subnet& s) {
    if (!s.nodes.empty()) put_in_order(s, 0, s.start_port);
}

u32 put_in_order(subnet& s, u32 start, u8 start_port) {
    s.start_port = start_port;
    node& first = s.nodes[start];
    const u64 MKey = first.route.MKey;
    first.route = {};
    first.route.MKey = MKey;
    first.hops = 0;
    if (start_port != 0) {
        first.info.localPortNum = start_port;
        first.info.portGUID = first.ports[start_port].portGUID;
    }
    const auto [order, reached] = breadth_first(s, start);
    std::vector<u32> place(order.size());
    std::vector<node> nodes;
    nodes.reserve(order.size());
    for (u32 i = 0; i < order.size(); ++i) {
        place[order[i]] = i;
        nodes.push_back(std::move(s.nodes[order[i]]));
        s.by_guid[nodes.back().info.nodeGUID] = i;
    }
    s.nodes = std::move(nodes);
    for (node& n : s.nodes) {
        for (unsigned number = 0; port & p : n.ports) {
            if (p.peer) p.peer.node = place[p.peer.node];
            // A port reports the port where the query entered the node, whatever route it took.
            if (p.info) p.info->localPortNum = n.is_switch() ? n.info.localPortNum : static_cast<u8>(number);
            ++number;
        }
    }
    return reached;
}

} // namespace comad::discovery
