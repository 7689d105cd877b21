// SPDX-License-Identifier: MIT
// levels_above_edge.cpp - lists the links of a fabric, and calculates how far its nodes are from the hosts.
#include "levels_above_edge.hpp"

#include <algorithm>
#include <utility>

namespace comad::discovery {

std::vector<link_ends> links_of(const subnet& s) {
    std::vector<link_ends> links;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        for (unsigned number = 0; number < s.nodes[n].ports.size(); ++number) {
            const port_ref here{n, static_cast<u8>(number)}, there = s.at(here).peer;
            if (!there) continue;
            const bool is_first = std::pair(here.node, here.port) <= std::pair(there.node, there.port);
            if (is_first || s.at(there).peer != here) links.push_back({here, there});
        }
    }
    return links;
}

bool is_aggregation_node(const node& n) {
    return n.info.nodeType == iba::NodeType::CA && n.description.find("Aggregation Node") != std::string::npos;
}

std::vector<unsigned> levels_above_edge(const subnet& s) {
    return levels_above_edge(s, std::vector<bool>(s.nodes.size()));
}

std::vector<unsigned> levels_above_edge(const subnet& s, const std::vector<bool>& left_out) {
    constexpr unsigned unknown = ~0u;
    std::vector<unsigned> levels(s.nodes.size(), unknown);
    std::vector<u32> order;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (s.nodes[n].is_switch()) continue;
        levels[n] = 0;
        if (!left_out[n] && !is_aggregation_node(s.nodes[n])) order.push_back(n);
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
        for (const port& p : s.nodes[order[next]].ports) {
            if (!p.peer || left_out[p.peer.node] || levels[p.peer.node] != unknown) continue;
            levels[p.peer.node] = levels[order[next]] + 1;
            order.push_back(p.peer.node);
        }
    }
    std::ranges::replace(levels, unknown, 1u);
    return levels;
}

} // namespace comad::discovery
