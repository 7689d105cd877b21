// SPDX-License-Identifier: MIT
// link_json.hpp - formats a port and its link as JSON. Sends nothing.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json.hpp>

namespace ibtool {

/// Returns nodeType, nodeGUID, description, portGUID, LID and port.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                  const comad::discovery::node_names&);

/// Returns both ends of a link in one object: states, width and speed (active, enabled, supported), MTUs and VLs of this end, the better
/// width and speed that both ends support, and the neighbor with the same data. `groups`: the systems of the subnet; empty: without
/// chassis and external ports. Precondition: the port's PortInfo is known.
nlohmann::ordered_json link_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                 const comad::discovery::node_names&,
                                 const comad::discovery::system_groups& groups = {});

} // namespace ibtool
