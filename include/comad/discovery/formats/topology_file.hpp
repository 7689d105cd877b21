// SPDX-License-Identifier: MIT
// topology_file.hpp - the subnet that a topology file describes. Knows no file name but in messages; reports.hpp writes such files.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/topology_file/detail/read.hpp>

#include <string>
#include <string_view>

namespace comad::discovery {

/// A subnet, and what of the file could not be used: one line for a user, empty if there is nothing.
struct described_subnet {
    subnet found;
    std::string skipped;
};

enum class described_order : u8 {
    of_file, ///< no node has a route
    discovery, ///< as put_in_order() makes it, from where the file says that it was made, else from the first CA; with routes
};

/// What a file says, as far as it says it: see node::known, port::assumed and subnet::may_lack_nodes. Ports without a cable
/// have no PortInfo. A port is Active if both ends of its cable have LIDs; a width or speed that the file does not have is 0.
/// Supported and enabled are what is active.
/// Errors: as topology_file::read().
described_subnet read_topology_file(std::string_view text, std::string_view name,
                                    topology_file::reading how = topology_file::reading::tolerant,
                                    described_order order = described_order::discovery);

} // namespace comad::discovery
