// SPDX-License-Identifier: MIT
// path_bits.hpp - the LIDs of one port, 2^LMC from its base LID (IBA 4.1.3): each may lead another way. Knows no path.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>

namespace comad::mad {

/// The LID of the path with these bits, for SLID of what a port sends or DLID of what is sent to it. Nothing: it has no such path, or
/// no unicast LID.
constexpr std::optional<iba::lid> lid_of_path(iba::lid base, unsigned LMC, unsigned path_bits) noexcept {
    const iba::lid LID{static_cast<u16>(value(base) + path_bits)};
    if (path_bits >= 1u << LMC || !iba::is_unicast(base) || !iba::is_unicast(LID)) return std::nullopt;
    return LID;
}

/// Which of the port's paths a LID is. Nothing: it is another port's.
constexpr std::optional<u8> path_bits_of(iba::lid LID, iba::lid base, unsigned LMC) noexcept {
    const unsigned bits = static_cast<unsigned>(value(LID)) - value(base);
    if (!iba::is_unicast(base) || value(LID) < value(base) || bits >= 1u << LMC) return std::nullopt;
    return static_cast<u8>(bits);
}

} // namespace comad::mad
