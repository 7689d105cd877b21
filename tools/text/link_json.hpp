// SPDX-License-Identifier: MIT
// link_json.hpp - formats a port and its link as JSON. Sends nothing.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json.hpp>

namespace ibtool {

/// Returns nodeType, nodeGUID, description, portGUID, LID and port.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                  const comad::discovery::node_names&);

/// Returns state, width, speed, their possible values, and the neighbor. Precondition: the port's PortInfo is known.
nlohmann::ordered_json link_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                 const comad::discovery::node_names&);

} // namespace ibtool
