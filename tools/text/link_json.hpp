// SPDX-License-Identifier: MIT
// link_json.hpp - a port and its link as JSON. Asks nobody.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json.hpp>

namespace ibtool {

/// nodeType, nodeGUID, description, portGUID, LID, port.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                  const comad::discovery::node_names&);

/// State, width, speed, what these could be, and the other end. Precondition: the port's PortInfo is known.
nlohmann::ordered_json link_json(const comad::discovery::subnet&, comad::discovery::port_ref,
                                 const comad::discovery::node_names&);

} // namespace ibtool
