// SPDX-License-Identifier: MIT
// topology_file.hpp - builds a subnet from the text of a topology file. Opens no files; reports.hpp writes topology files.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/topology_file/detail/read.hpp>

#include <string>
#include <string_view>

namespace comad::discovery {

/// A subnet from a topology file, and the lines that could not be used: one line for users, empty if all were used.
struct described_subnet {
    subnet found;
    std::string skipped;
};

/// The order of the nodes of a described_subnet.
enum class described_order : u8 {
    of_file, ///< the order of the file; nodes have no routes
    /// Breadth-first with routes, as put_in_order(): from the node where the file was made, or else from the first CA.
    discovery,
};

/// Reads the text of a topology file. Data that the file does not contain is marked: see node::known, port::assumed and
/// subnet::may_lack_nodes. Ports without a cable have no PortInfo. A port is Active if both ends of its cable have LIDs. A width or speed
/// that the file does not contain is 0. Supported and enabled widths and speeds are equal to the active ones.
/// `name`: the name of the file in messages.
/// Errors: as topology_file::read().
described_subnet read_topology_file(std::string_view text, std::string_view name,
                                    topology_file::reading how = topology_file::reading::tolerant,
                                    described_order order = described_order::discovery);

} // namespace comad::discovery
