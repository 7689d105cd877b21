// SPDX-License-Identifier: MIT
// reading_plan.hpp - what each node is asked for after it was found, and by how many readers at a time.
#pragma once
#include "node_query.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <bitset>
#include <vector>

namespace comad::discovery {

/// The steps of reading each node, and how far they have come. Several readers, also of several workers, share the steps of
/// a node. A switch is asked for its ports first, because nodes on the other ends of its links depend on them; then for port 0,
/// SwitchInfo and NodeDescription. Another node is asked for the port that the route enters by, and NodeDescription.
class reading_plan {
public:
    struct order {
        bool port_0_first = false; ///< port 0 of a switch has the LID by which the other steps are sent
        /// The description is read before the ports, by one reader: a filter of ports may need it.
        bool description_first = false;
    };
    explicit reading_plan(order o) : order_(o) {}

    /// A new node, the next by index. Returns how many readers the worker starts.
    unsigned add(const node&, const query_origin&);
    /// A worker has reached a node that is known. If it has nothing else to send, it starts this many readers: so it finds ports to
    /// go on from, and workers that start close to each other share what is connected to the first switch.
    unsigned add_readers(u32 index, const node&, const query_origin&);

    /// False: a reader of the node ends.
    bool has_step(u32 index, const node&) const;
    /// Precondition: has_step().
    node_query next_step(u32 index, const node&, const mad::IBDRPath& route);
    /// True: it was the last reader of the node.
    bool end_reader(u32 index) { return --readings_[index].readers == 0; }

    /// The node replied to a query that is not about its neighbor.
    void note_reply(u32 index) { readings_[index].timeouts_in_a_row = 0; }
    /// A query timed out. True: the node is given up with this, because to wait for each of its ports would take seconds each.
    bool note_timeout(u32 index, const node&);
    /// The step to continue from after the node was given up.
    unsigned position(u32 index) const { return readings_[index].next_step; }

    /// A port was read (or refused the query, if `has_bit`). Returns the ports that may hide extended speeds, and are to be read again
    /// with the bit UnderstandsExtendedSpeeds, as OpenSM does since 2026: first one port of the node, and the others if this port
    /// did hide them. `has_bit`: the port was read with this bit.
    std::vector<u8> ports_to_reread_for_ext_speeds(const subnet&, port_ref, bool has_bit);

    /// All nodes count as read, and indices are new ones.
    void restart(std::size_t nodes) { readings_.assign(nodes, {.next_step = ~0u}); }
    /// One reader continues to read a node that was given up.
    void resume(u32 index, unsigned position, bool is_second) {
        readings_[index] = {.next_step = position, .readers = 1, .is_second = is_second};
    }

private:
    struct reading {
        unsigned next_step = 0;
        unsigned readers = 0;
        unsigned timeouts_in_a_row = 0;
        u32 latest_worker = 0; // that started readers
        bool is_given_up = false;
        bool is_second = false;                                                          // as node_query::is_second
        enum class hiding : u8 { unknown, queried, none, some } hides = hiding::unknown; // extended speeds
        std::bitset<256> reread{};                                                       // ports
    };

    const order order_;
    std::vector<reading> readings_; // by node index
};

} // namespace comad::discovery
