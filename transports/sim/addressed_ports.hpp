// SPDX-License-Identifier: MIT
// addressed_ports.hpp - finds the ports of a simulated subnet by LID or GID. It depends on no record.
#pragma once
#include "attributes.hpp"

#include <optional>
#include <vector>

namespace comad::transports::sim {

/// An end port, with the LID and the GID by which a query addresses it.
struct addressed_port {
    router::place at;
    iba::lid LID;
    iba::gid GID;
};

/// Returns the default GID of a port.
iba::gid gid_of(const attributes& of, router::place at) noexcept;
/// The end ports that a query means: by LID, one of those that the LID mask gives, and by GID, of which a port may have
/// several; null: any. What they are asked by is what they have here.
std::vector<addressed_port> addressed_ports(const attributes& of, const iba::lid* LID, const iba::gid* GID);
/// Returns the end port with this GID, with the address of the query.
std::optional<addressed_port> find_addressed_port(const attributes& of, const iba::gid& GID);

} // namespace comad::transports::sim
