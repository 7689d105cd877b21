// SPDX-License-Identifier: MIT
// chassis_boards.hpp - vendors' boards, by how they are cabled or what they say of themselves. Only chassis.cpp knows what systems are.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>

#include <array>

namespace comad::discovery {

inline constexpr std::size_t most_spines = 18, most_lines = 36; ///< positions in a chassis, of any vendor

inline constexpr u32 voltaire_vendor = 0x0008f1, mellanox_vendor = 0x0002c9;

/// A chassis while it is put together: node by position, from 1.
struct positions {
    std::array<u32, most_spines + 1> spines;
    std::array<u32, most_lines + 1> lines;
    positions() noexcept {
        spines.fill(port_ref::npos);
        lines.fill(port_ref::npos);
    }
};

/// Says of each board of Voltaire's chassis where it is, as far as its cables tell, and appends the chassis. The order of the nodes
/// counts from the last.
void find_voltaire_boards(const subnet&, system_groups&);

/// Says of each Mellanox switch with IS4 chips that is a board where it is, as far as its description tells.
void find_mellanox_boards(const subnet&, system_groups&);

} // namespace comad::discovery
