// SPDX-License-Identifier: MIT
// topology_difference.hpp - the differences between two subnets in the format of ibnetdiscover --diff.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace comad::discovery {

/// The checks that ibnetdiscover --diffcheck names: which nodes are compared, and which properties of nodes that both subnets have.
struct topology_checks {
    bool switches = true, cas = true, routers = true;
    bool links = true;         ///< whether a port is connected, and to which port GUID
    bool lids = false;         ///< LIDs of switches, of ports and of their neighbors
    bool descriptions = false; ///< descriptions of nodes and of their neighbors
};
/// Returns what ibnetdiscover --diff prints: nodes and links of `was` after `< `, and those of `is` after `> `. The text is empty if the
/// subnets do not differ. `full`: with speed, width and VLCap of links.
std::string topology_difference(const subnet& was, const subnet& is, const node_names&, const topology_checks&,
                                bool full = false);

} // namespace comad::discovery
