// SPDX-License-Identifier: MIT
// counters.hpp - the performance counters of all ports of a simulated subnet. Knows no MAD.
#pragma once
#include "counter_groups.hpp"
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace comad::transports::sim {

/// What a port counts: the MADs that it sent and received where their ways begin and end, nothing of what it passes on,
/// and how often its link went down. With a load it counts that while its link is up; with a seed it counted before, too:
/// traffic of which either end of a cable tells the same, and some errors.
///
/// All is found when it is read, from the time. Counters have 64 bits and wrap; what shows fewer bits of them stops there,
/// and begins anew only where the 64 do. 20 bytes a port, and some hundred for each group of counters that was written and
/// each cable that was down.
class counters {
public:
    using values = iba::pm::PortCountersExt;

    /// Counters that are written together. PortCounters and PortCountersExt are one group, the latter's.
    struct group {
        u32 node;
        unsigned port;
        u16 attributeID;
        u8 opCode = 0; ///< of attributes that have one
    };

    /// `t` must outlive it. `seed`: 0: all begin at 0.
    counters(const topology& t, u64 seed);

    void count_sent(u32 node, unsigned port, unsigned packets = 1) noexcept {
        at(node, port).sent += packets;
        if (is_behind_port0(node, port)) at(node, 0).sent += packets;
    }
    void count_received(u32 node, unsigned port, unsigned packets = 1) noexcept {
        at(node, port).received += packets;
        if (is_behind_port0(node, port)) at(node, 0).received += packets;
    }
    /// An SMP for which there was no room.
    void count_dropped(u32 node, unsigned port) noexcept { ++at(node, port).dropped; }
    /// The link of a port went down, or came up. Nothing happens where it was so already.
    void link_changed(u32 node, unsigned port, bool is_up, mad::time_point now);
    /// From now on. Precondition: nothing is carried yet.
    void carry(const load&, mad::time_point now) noexcept;

    counter_row read(const group&, mad::time_point now) const;
    /// From now on they go on from these.
    void write(const group&, const counter_row&, mad::time_point now);

private:
    struct port_counts {
        u32 peer;        // index of the other end of its cable at the beginning
        link_codes link; // of its cable at the beginning
        u32 sent = 0, received = 0, dropped = 0;
    };
    struct outages {
        u64 times = 0;
        mad::duration length{0}; // of those that are over
        std::optional<mad::time_point> since;
    };
    static constexpr u32 none = ~u32{0};

    /// Whether what begins or ends in this switch goes through its port 0, too, before or after `port`.
    bool is_behind_port0(u32 node, unsigned port) const noexcept {
        return port != 0 && topology_.nodes[node].enhanced_port0;
    }
    u32 index(u32 node, unsigned port) const noexcept { return first_[node] + port; }
    port_counts& at(u32 node, unsigned port) noexcept { return ports_[index(node, port)]; }
    u64 key(const group& g) const noexcept {
        return u64{index(g.node, g.port)} << 32 | u64{g.opCode} << 16 | g.attributeID;
    }
    /// Both ends of a cable have one number.
    u32 cable(u32 index) const noexcept { return std::min(index, ports_[index].peer); }

    counter_row counted(const group&, mad::time_point now) const;
    values port_values(u32 index, mad::time_point now) const;
    void add_earlier(u32 index, values&) const noexcept;
    void add_load(u32 index, mad::duration up, values&) const noexcept;

    const topology& topology_;
    u64 seed_;
    load load_;
    mad::time_point loaded_since_{};
    std::vector<u32> first_; // by node: index of its port 0
    std::vector<port_counts> ports_;
    std::unordered_map<u32, outages> outages_;   // by cable
    std::unordered_map<u64, counter_row> added_; // by key: what was written less what was counted then
};

} // namespace comad::transports::sim
