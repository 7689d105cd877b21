// SPDX-License-Identifier: MIT
// port_sets.hpp - the common code of set_port_state and init_all_ports: changes the states of many ports by directed routes, and reads
// them back.
#pragma once
#include "commands/writing/port_change.hpp"
#include "session/report.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// A port to change, and the route to its node.
struct port_set {
    comad::discovery::port_ref where;
    comad::mad::IBDRPath route;
};

/// The change that applies to all ports, and the format of the report.
struct port_sets_options {
    port_change change; ///< enable, disable or down
    bool dry_run = false, json = false;
    comad::discovery::node_names names;
};

/// Reads each port, writes the change unless the port already has it, and reads the port back. Changes the farthest ports first. Ports at
/// the same distance are changed in parallel, within the limits of the schedule. The report has a line for each port. Failures are in
/// `missing` and do not stop the other ports.
comad::coro::task<report> set_ports(session&, const comad::discovery::subnet&, std::vector<port_set>,
                                    const port_sets_options&);

/// Returns the shortest routes to all nodes that avoid the links of these ports. Nullopt: all routes to the node use these links.
std::vector<std::optional<comad::mad::IBDRPath>> routes_without(const comad::discovery::subnet&,
                                                                std::span<const comad::discovery::port_ref>);

} // namespace ibtool
