// SPDX-License-Identifier: MIT
// credit_loops.hpp - finds credit loops: cycles of packets in which each waits for the buffer that the next one occupies. They are
// cycles in the channel dependency graph (Dally and Seitz 1987). Sends nothing.
#pragma once
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/discovery/routing/detail/virtual_lanes.hpp>

#include <vector>

namespace comad::discovery {

/// A virtual lane of a link between switches, in one direction.
struct lane {
    port_ref out;
    u8 VL = 0;
};

/// A set of lanes in which each lane may wait for every other lane.
struct credit_loop {
    std::size_t lanes = 0;   ///< the number of lanes in the set
    std::vector<lane> cycle; ///< a short cycle of these lanes, in the order in which a packet passes them
};

/// The result of find_credit_loops().
struct credit_check {
    std::size_t dependencies = 0; ///< edges of the graph, each between two lanes
    unsigned VLs = 1;
    std::vector<credit_loop> loops; ///< in the order of their first port

    bool is_good() const noexcept { return loops.empty(); }
};

/// Selects the routes that find_credit_loops() considers.
struct credit_options {
    bool switches_too = false; ///< port 0 of switches also sends and receives; otherwise only CAs and routers do
    bool multicast = false;    ///< include the trees of multicast LIDs, on SL 0
};

/// Builds the dependency graph from all routes of the forwarding tables, and finds its cycles. A route that does not reach its
/// destination counts up to the point where it ends. Memory: for each lane of a link, one bit for each lane of each port of the
/// neighbor.
credit_check find_credit_loops(const subnet&, const lid_index&, const forwarding_tables&, const virtual_lanes& = {},
                               credit_options = {});

} // namespace comad::discovery
