// SPDX-License-Identifier: MIT
// port_lookup.hpp - finds ports of a subnet by their port GUIDs, and by directed routes. Sends nothing.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <unordered_map>

namespace comad::discovery {

/// Maps each port GUID of a subnet to its end port: port 0 of a switch, else the port itself. It contains node indices of the subnet; its
/// nodes must not be reordered.
class port_guid_index {
public:
    port_guid_index() = default;
    explicit port_guid_index(const subnet&);

    /// The end port with this port GUID; invalid if there is none. If several have it, the first in the order of the nodes.
    port_ref at(iba::guid portGUID) const noexcept {
        const auto found = ports_.find(portGUID);
        return found == ports_.end() ? port_ref{} : found->second;
    }

private:
    std::unordered_map<iba::guid, port_ref> ports_;
};

/// The port by which a directed route from nodes[0] enters its last node, by the links of the subnet; `.node` is that node. For a route
/// without hops, it is the local port. Invalid if a hop has no known neighbor or leads through a node that forwards no SMPs (a CA or a
/// router). A LID-routed part in front or at the end is followed to the end port that has this LID.
port_ref follow(const subnet&, const mad::IBDRPath& route);

} // namespace comad::discovery
