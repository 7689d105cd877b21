// SPDX-License-Identifier: MIT
// credit_loops.hpp - whether packets may wait for each other in a circle, each for the buffer that the next one holds: cycles in
// the graph of dependencies between channels (Dally and Seitz 1987). Asks nobody.
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

/// Lanes each of which may wait for all of them.
struct credit_loop {
    std::size_t lanes = 0;   ///< how many
    std::vector<lane> cycle; ///< a short cycle of them, in the order in which a packet would pass
};

struct credit_check {
    std::size_t dependencies = 0; ///< between two lanes
    unsigned VLs = 1;
    std::vector<credit_loop> loops; ///< in the order of their first port

    bool is_good() const noexcept { return loops.empty(); }
};

struct credit_options {
    bool switches_too = false; ///< port 0 of switches sends and receives, too; else only CAs and routers do
    bool multicast = false;    ///< the trees of multicast LIDs, too, on SL 0
};

/// Makes the graph of all routes that the tables have, and looks for cycles. A route that does not reach its end counts as far as
/// it goes. Needs for each lane of a link a bit for each lane of each port behind it.
credit_check find_credit_loops(const subnet&, const lid_index&, const forwarding_tables&, const virtual_lanes& = {},
                               credit_options = {});

} // namespace comad::discovery
