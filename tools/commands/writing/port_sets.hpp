// SPDX-License-Identifier: MIT
// port_sets.hpp - the common part of set_port_state and init_all_ports: changes the state of many ports by directed routes, and reads back.
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

/// The change for all ports.
struct port_sets_options {
    port_change change; ///< enable, disable or down
    bool dry_run = false, json = false;
    comad::discovery::node_names names;
};

/// Reads each port, writes the change unless the port has it already, and reads it back. The farthest ports come first; ports at the same
/// distance are changed in parallel, as the schedule allows. `text` has a line for each port; failures are in `missing` and do not stop
/// the others.
comad::coro::task<report> set_ports(session&, const comad::discovery::subnet&, std::vector<port_set>,
                                    const port_sets_options&);

/// Returns shortest routes to all nodes without the links of these ports; nullopt: there is no such route.
std::vector<std::optional<comad::mad::IBDRPath>> routes_without(const comad::discovery::subnet&,
                                                                std::span<const comad::discovery::port_ref>);

} // namespace ibtool
