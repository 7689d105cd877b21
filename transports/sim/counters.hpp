// SPDX-License-Identifier: MIT
// counters.hpp - the performance counters of all ports of a simulated subnet. Knows no MAD.
#pragma once
#include <comad/iba/pm.hpp>
#include <comad/transports/sim/topology.hpp>

#include <unordered_map>
#include <vector>

namespace comad::transports::sim {

/// What a port counts: the MADs that it sent and received where their ways begin and end, nothing of what it passes on.
/// With a seed it counted before, too: traffic of which either end of a cable tells the same, and some errors.
/// 24 bytes a port.
class counters {
public:
    using values = iba::pm::PortCountersExt;

    /// `t` must outlive it. `seed`: 0: all begin at 0.
    counters(const topology& t, u64 seed);

    void count_sent(u32 node, unsigned port, unsigned packets = 1) noexcept { at(node, port).sent += packets; }
    void count_received(u32 node, unsigned port, unsigned packets = 1) noexcept { at(node, port).received += packets; }
    /// An SMP for which there was no room.
    void count_dropped(u32 node, unsigned port) noexcept { ++at(node, port).dropped; }

    /// The counters alone: portSelect and counter selects are 0.
    values read(u32 node, unsigned port) const;
    /// From now on they go on from these.
    void write(u32 node, unsigned port, const values&);

private:
    struct port_counts {
        u32 peer; // index of the other end of its cable at the beginning
        u32 sent = 0, received = 0, dropped = 0;
    };
    static constexpr u32 none = ~u32{0};

    u32 index(u32 node, unsigned port) const noexcept { return first_[node] + port; }
    port_counts& at(u32 node, unsigned port) noexcept { return ports_[index(node, port)]; }
    values counted(u32 index) const;

    u64 seed_;
    std::vector<u32> first_; // by node: index of its port 0
    std::vector<port_counts> ports_;
    std::unordered_map<u32, values> added_; // by index: what was written less what was counted then
};

} // namespace comad::transports::sim
