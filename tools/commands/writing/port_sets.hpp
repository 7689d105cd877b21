// SPDX-License-Identifier: MIT
// port_sets.hpp - what set_port_state and init_all_ports share: the state of many ports changed by directed routes, each read back.
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

/// A port that is to get another state, and how to reach its node.
struct port_set {
    comad::discovery::port_ref where;
    comad::mad::IBDRPath route;
};

/// How all of them are changed.
struct port_sets_options {
    port_change change; ///< enable, disable or down
    bool dry_run = false, json = false;
    comad::discovery::node_names names;
};

/// Reads each port, writes the change unless it is there already, and reads back: at most so many of the same distance at a time as
/// the schedule allows, the farthest before all others. A line for each in `text`; what fails is among `missing`, and the rest
/// goes on.
comad::coro::task<report> set_ports(session&, const comad::discovery::subnet&, std::vector<port_set>,
                                    const port_sets_options&);

/// Shortest routes to all nodes over other links than those of these ports; nothing: there is none.
std::vector<std::optional<comad::mad::IBDRPath>> routes_without(const comad::discovery::subnet&,
                                                                std::span<const comad::discovery::port_ref>);

} // namespace ibtool
