// SPDX-License-Identifier: MIT
// port_counts.hpp - counts the ports of a subnet by state, width, speed and MTU, and finds ports that are below what is enabled. Counts as
// `portstatus` does on OpenSM's console. Sends nothing.
#pragma once
#include <comad/discovery/database/detail/link_sets.hpp>
#include <comad/discovery/formats/exports.hpp>

#include <optional>
#include <string>
#include <vector>

namespace comad::discovery {

/// How many ports have one value: 128 ports `4x`.
struct value_count {
    std::string value; ///< the name of the state, width or speed, or the number of bytes of an MTU
    std::size_t ports = 0;
    friend bool operator==(const value_count&, const value_count&) = default;
};

/// The ports of a subnet whose PortInfo is known, without port 0 of switches.
struct port_counts {
    std::size_t nodes = 0, ports = 0;
    std::vector<value_count> states; ///< in the order of the IBA: Down first
    std::vector<value_count> widths, speeds,
        mtus;                            ///< of the ports that are not down, smallest first; unknown values last
    std::vector<port_ref> disabled;      ///< portPhysicalState is Disabled
    std::vector<port_ref> reduced_width; ///< not down, and a wider width is enabled than the active one
    std::vector<port_ref>
        reduced_speed; ///< not down, and a faster speed is enabled, or both ends support FDR10 instead of QDR
    std::vector<port_ref> unenabled_width; ///< not down, and the active width is not enabled
    std::vector<port_ref> unenabled_speed; ///< not down, and the active speed is not enabled
};

/// Counts the ports of all nodes, or of the nodes of one type. Differences from OpenSM: widths compare by lanes, so that a 4x link whose
/// ports also have 2x enabled is not reduced. A QDR link whose ends have faster speeds enabled is `reduced_speed`, which OpenSM counts as
/// an unenabled speed. Ports that were read from a topology file are neither reduced nor unenabled.
port_counts count_ports(const subnet&, std::optional<iba::NodeType> only = {});

/// Returns the cables of some ports, each once, in the order of the subnet. `to` is invalid if the neighbor is unknown.
std::vector<link_ends> cables_of(const subnet&, std::vector<port_ref> ports);

} // namespace comad::discovery
