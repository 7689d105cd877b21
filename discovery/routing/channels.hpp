// SPDX-License-Identifier: MIT
// channels.hpp - numbers all ports of a subnet in sequence. A port in its outgoing direction is a channel. Used to follow routes.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <algorithm>
#include <vector>

namespace comad::discovery {

/// All channels of a subnet by number, and the node and port to which each of them leads.
class channels {
public:
    /// The port that a channel leads to.
    struct far_end {
        u32 node = port_ref::npos;
        u8 port = 0;
        bool is_switch = false;

        explicit operator bool() const noexcept { return node != port_ref::npos; }
    };

    explicit channels(const subnet& s) {
        first_.reserve(s.nodes.size() + 1);
        for (const node& n : s.nodes) {
            first_.push_back(static_cast<u32>(ends_.size()));
            for (const port& p : n.ports) {
                far_end& e = ends_.emplace_back();
                if (p.peer) e = {p.peer.node, p.peer.port, s.nodes[p.peer.node].is_switch()};
            }
        }
        first_.push_back(static_cast<u32>(ends_.size()));
    }

    u32 size() const noexcept { return static_cast<u32>(ends_.size()); }
    /// Precondition: the node has that port.
    u32 at(u32 node, unsigned port) const noexcept { return first_[node] + port; }
    const far_end& far(u32 channel) const noexcept { return ends_[channel]; }
    unsigned ports(u32 node) const noexcept { return first_[node + 1] - first_[node]; } ///< including port 0
    port_ref of(u32 channel) const noexcept {
        const auto next = std::ranges::upper_bound(first_, channel);
        const auto node = static_cast<u32>(next - first_.begin()) - 1;
        return {node, static_cast<u8>(channel - first_[node])};
    }

private:
    std::vector<u32> first_; // the channel of port 0 of each node, and the end
    std::vector<far_end> ends_;
};

} // namespace comad::discovery
