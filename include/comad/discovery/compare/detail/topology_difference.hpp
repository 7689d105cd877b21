// SPDX-License-Identifier: MIT
// topology_difference.hpp - the differences between two subnets as ibnetdiscover --diff prints them.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace comad::discovery {

/// What ibnetdiscover --diffcheck names: which nodes are compared, and what of those that both subnets have.
struct topology_checks {
    bool switches = true, cas = true, routers = true;
    bool links = true;         ///< whether a port is connected, and to which port GUID
    bool lids = false;         ///< of switches, ports and what they lead to
    bool descriptions = false; ///< of nodes and what they lead to
};
/// What ibnetdiscover --diff prints: nodes and links of `was` behind `< `, those of `is` behind `> `; nothing where they are
/// the same.
std::string topology_difference(const subnet& was, const subnet& is, const node_names&, const topology_checks&,
                                bool full = false);

} // namespace comad::discovery
