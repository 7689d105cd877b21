// SPDX-License-Identifier: MIT
// counters.hpp - the performance counters of all ports of a simulated subnet. They do not depend on MADs.
#pragma once
#include "bit_errors.hpp"
#include "counter_groups.hpp"
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace comad::transports::sim {

/// The counters of all ports. A port counts the MADs that start or end there, but not those that it forwards, and how
/// often its link went down. With a load, it counts the load while its link is up. With a seed, it also has earlier
/// counts: traffic that both ends of a cable report consistently, and some errors.
///
/// Values are calculated from the time when they are read. Counters have 64 bits and wrap. Narrower fields stick at
/// their largest value, until the 64-bit counter wraps or is written. The cost is 20 bytes per port, and some hundred
/// bytes for each written group of counters and each cable that was down.
class counters {
public:
    using values = iba::pm::PortCountersExt;

    /// Counters that are written together. PortCounters and PortCountersExt are one group, with the attribute ID of
    /// the latter.
    struct group {
        u32 node;
        unsigned port;
        u16 attributeID;
        u8 opCode = 0; ///< only for attributes that have one
    };

    /// `t` must outlive it. `seed`: 0: all counters start at 0.
    counters(const topology& t, u64 seed);

    void count_sent(u32 node, unsigned port, unsigned packets = 1) noexcept {
        at(node, port).sent += packets;
        if (is_behind_port0(node, port)) at(node, 0).sent += packets;
    }
    void count_received(u32 node, unsigned port, unsigned packets = 1) noexcept {
        at(node, port).received += packets;
        if (is_behind_port0(node, port)) at(node, 0).received += packets;
    }
    /// Counts an SMP that was dropped because the buffer was full.
    void count_dropped(u32 node, unsigned port) noexcept { ++at(node, port).dropped; }
    /// Records that the link of a port went down or came up. Repeated calls with one state have no effect.
    void link_changed(u32 node, unsigned port, bool is_up, mad::time_point now);
    /// Starts a load. Precondition: no other load was started.
    void carry(const load&, mad::time_point now) noexcept;
    /// What one port sends, and how often it waits, in addition to the load.
    struct flow {
        double bytes = 0;        ///< per second
        double waiting = 0;      ///< ticks per second
        mad::time_point since{}; ///< start
    };
    /// Starts a flow from a port. Precondition: the port has a cable.
    void carry_from(u32 node, unsigned port, const flow& f) { flows_[index(node, port)] = f; }

    /// Sets the share of the bits received by a port that are wrong. Precondition: the port had a cable at the start.
    void set_bit_error_rate(u32 node, unsigned port, double rate);

    /// Returns what a group has counted since the start. Writes do not change it.
    counter_row counted(const group&, mad::time_point now) const;
    /// Returns the present values of a group.
    counter_row read(const group&, mad::time_point now) const;
    /// Sets the values of a group, which then count on from there.
    void write(const group&, const counter_row&, mad::time_point now);

private:
    struct port_counts {
        u32 peer;        // index of the port at the opposite end of its cable at the start
        link_codes link; // codes of its cable at the start
        u32 sent = 0, received = 0, dropped = 0;
    };
    struct outages {
        u64 times = 0;
        mad::duration length{0}; // total of the outages that have ended
        std::optional<mad::time_point> since;
    };
    static constexpr u32 none = ~u32{0};

    /// Returns whether MADs that start or end in this switch also pass its port 0, before or after `port`.
    bool is_behind_port0(u32 node, unsigned port) const noexcept {
        return port != 0 && topology_.nodes[node].enhanced_port0;
    }
    u32 index(u32 node, unsigned port) const noexcept { return first_[node] + port; }
    port_counts& at(u32 node, unsigned port) noexcept { return ports_[index(node, port)]; }
    u64 key(const group& g) const noexcept {
        return u64{index(g.node, g.port)} << 32 | u64{g.opCode} << 16 | g.attributeID;
    }
    /// Returns the number of a cable, which is equal for both ends.
    u32 cable(u32 index) const noexcept { return std::min(index, ports_[index].peer); }

    values port_values(u32 index, mad::time_point now) const;
    void add_earlier(u32 index, values&) const noexcept;
    void add_load(u32 index, mad::duration up, values&) const noexcept;
    void add_flows(u32 index, mad::duration down, mad::time_point end, values&) const noexcept;
    u64 words_of_flow(u32 from, mad::duration down, mad::time_point end) const noexcept;
    mad::duration time_up(u32 index, mad::time_point now) const;
    bit_error_counts bit_errors_at(u32 index, mad::time_point now) const;

    const topology& topology_;
    u64 seed_;
    load load_;
    mad::time_point loaded_since_{};
    std::vector<u32> first_; // index of port 0, by node
    std::vector<port_counts> ports_;
    std::unordered_map<u32, flow> flows_;            // by index of the sending port
    std::unordered_map<u32, outages> outages_;       // outages by cable
    std::unordered_map<u32, bit_errors> bit_errors_; // by index of the receiving port
    std::unordered_map<u64, counter_row> added_;     // the written values minus the counts at that time, by key
};

} // namespace comad::transports::sim
