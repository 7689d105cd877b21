// SPDX-License-Identifier: MIT
// port_json.hpp - the JSON members of ports, links and nodes that several documents share. Does not depend on a document. The header is
// not installed.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json_fwd.hpp>

namespace comad::discovery {

/// Adds `linkWidthSupported`, `linkWidthEnabled`, `linkSpeedSupported` and `linkSpeedEnabled` as lists of names, slowest first, and
/// `MTUCap`, `neighborMTU`, `VLCap` and `operationalVLs` as the numbers of PortInfo. `linkSpeedSupported` has FDR10 if the port supports
/// it; PortInfo does not contain whether FDR10 is enabled. Adds nothing if the PortInfo was read from a topology file, which lacks these
/// fields. Precondition: the PortInfo of the port is known.
void add_link_abilities(nlohmann::ordered_json&, const subnet&, port_ref);

/// Adds `linkWidthPossible` and `linkSpeedPossible` if both ends support a better value than the active one (`Could be` of iblinkinfo), and
/// `linkWidthOtherEnd` and `linkSpeedOtherEnd` if the other end reports a different value. Precondition: as above.
void add_link_judgment(nlohmann::ordered_json&, const subnet&, port_ref);

/// Adds `capabilityMask`, `capabilityMask2` if the port has it, and `capabilities`, the names of the bits of both. Adds nothing for a port
/// that is not an end port, because the IBA defines no capabilities for it, or that was read from a topology file. Precondition: as above.
void add_capabilities(nlohmann::ordered_json&, const subnet&, port_ref);

/// Adds `board`, `slot`, `chip` and `type` of a board; nothing for another node.
void add_board(nlohmann::ordered_json&, const chassis_place&);
/// Adds `chassis` if the node is in a chassis: an object with its number and the members of add_board().
void add_chassis(nlohmann::ordered_json&, const system_groups&, u32 node);

/// Adds `switchInfo`, the structure with its IBA names. Adds nothing if it is unknown or was read from a topology file.
void add_switch_info(nlohmann::ordered_json&, const node&);

} // namespace comad::discovery
