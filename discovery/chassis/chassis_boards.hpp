// SPDX-License-Identifier: MIT
// chassis_boards.hpp - finds the boards of vendors' chassis by their cabling or their descriptions. chassis.cpp groups the results.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>

#include <array>

namespace comad::discovery {

inline constexpr std::size_t most_spines = 18, most_lines = 36; ///< positions in a chassis, of any vendor

/// The vendor IDs (OUIs) of Voltaire and Mellanox.
inline constexpr u32 voltaire_vendor = 0x0008f1, mellanox_vendor = 0x0002c9;

/// A chassis under construction: the node at each position, from 1.
struct positions {
    std::array<u32, most_spines + 1> spines;
    std::array<u32, most_lines + 1> lines;
    positions() noexcept {
        spines.fill(port_ref::npos);
        lines.fill(port_ref::npos);
    }
};

/// Sets the position of each board of a Voltaire chassis as far as its cabling shows it, and appends the chassis. Nodes are counted from
/// the last one.
void find_voltaire_boards(const subnet&, system_groups&);

/// Sets the position of each board with a Mellanox IS4 switch chip, as far as its description shows it.
void find_mellanox_boards(const subnet&, system_groups&);

} // namespace comad::discovery
