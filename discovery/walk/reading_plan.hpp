// SPDX-License-Identifier: MIT
// reading_plan.hpp - decides which queries read each node after it was found, and how many readers share them.
#pragma once
#include "node_query.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <vector>

namespace comad::discovery {

/// The steps of reading each node, and their progress. Several readers share the steps of a node; they may belong to several workers.
/// For a switch, the first steps read its ports, because the nodes on the other ends of its links depend on them. Port 0, SwitchInfo and
/// NodeDescription follow. For another node, the steps read the port where the route enters, and NodeDescription. Steps for attributes
/// that are not wanted are left out.
class reading_plan {
public:
    struct order {
        bool port_0_first = false; ///< port 0 of a switch has the LID by which the other steps are sent
        /// The description is read before the ports, by one reader: a filter of ports may need it.
        bool description_first = false;
        wanted_attributes wanted{};
    };
    explicit reading_plan(order o) : order_(o) {}

    /// Adds a new node, the next by index. Returns the number of readers that the worker starts.
    unsigned add(const node&, const query_origin&);
    /// Called when a worker reaches a known node. Returns the number of readers that it starts: none if it has other queries to send.
    /// An idle worker finds ports to continue from in this way. Workers that start close to each other share the first switch.
    unsigned add_readers(u32 index, const node&, const query_origin&);

    /// Returns whether the node has a further step; if not, the reader ends.
    bool has_step(u32 index, const node&) const;
    /// Returns the next step. Precondition: has_step().
    node_query next_step(u32 index, const node&, const mad::IBDRPath& route);
    /// Ends a reader. Returns whether it was the last reader of the node.
    bool end_reader(u32 index) { return --readings_[index].readers == 0; }

    /// Records a reply of the node to a query that does not concern its neighbor.
    void note_reply(u32 index) { readings_[index].timeouts_in_a_row = 0; }
    /// Records a timeout. Returns whether the node is given up now: waiting for each of its ports would take seconds per port.
    bool note_timeout(u32 index, const node&);
    /// Returns the step to continue from after the node was given up.
    unsigned position(u32 index) const { return readings_[index].next_step; }

    /// Marks all nodes as read after their indices have changed.
    void restart(std::size_t nodes) { readings_.assign(nodes, {.next_step = ~0u}); }
    /// Starts one reader for a node that was given up, from step `position`.
    void resume(u32 index, unsigned position, bool is_second) {
        readings_[index] = {.next_step = position, .readers = 1, .is_second = is_second};
    }

private:
    struct reading {
        unsigned next_step = 0;
        unsigned readers = 0;
        unsigned timeouts_in_a_row = 0;
        u32 latest_worker = 0; // the worker that started readers last
        bool is_given_up = false;
        bool is_second = false; // see node_query::is_second
    };

    /// What a step reads.
    struct step {
        query_kind kind;
        unsigned port;
    };
    step step_at(const node&, unsigned position) const;
    bool is_wanted(const step&, const node&) const;
    /// Returns the position of the first wanted step from this one on; the number of steps if there is none.
    unsigned wanted_from(const node&, unsigned position) const;
    /// Returns the number of wanted steps from this one on.
    unsigned count_from(const node&, unsigned position) const;

    const order order_;
    std::vector<reading> readings_; // progress by node index
};

} // namespace comad::discovery
