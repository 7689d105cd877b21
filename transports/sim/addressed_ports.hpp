// SPDX-License-Identifier: MIT
// addressed_ports.hpp - finds the ports of a simulated subnet by LID or GID. It does not depend on SA records.
#pragma once
#include "attributes.hpp"

#include <optional>
#include <vector>

namespace comad::transports::sim {

/// An end port, with the LID and the GID by which a query addresses it.
struct addressed_port {
    router::node_port at;
    iba::lid LID;
    iba::gid GID;
};

/// Returns the default GID of a port.
iba::gid gid_of(const attributes& of, router::node_port at) noexcept;
/// Returns the end ports that a query selects, with the LID and GID of the query. A port can have several LIDs (LMC)
/// and several GIDs. Null selects all ports.
std::vector<addressed_port> addressed_ports(const attributes& of, const iba::lid* LID, const iba::gid* GID);
/// Returns the end port with this GID, with the address of the query.
std::optional<addressed_port> find_addressed_port(const attributes& of, const iba::gid& GID);

} // namespace comad::transports::sim
