// SPDX-License-Identifier: MIT
// levels_above_edge.hpp - computes the levels of the switches of a fabric, ignoring some of its nodes.
#pragma once
#include <comad/discovery/formats/exports.hpp>

#include <vector>

namespace comad::discovery {

/// Returns the levels as levels_above_edge(const subnet&) does, but ignores the nodes for which `left_out` (by index) is true. They are
/// not part of the edge, and links through them do not count.
std::vector<unsigned> levels_above_edge(const subnet&, const std::vector<bool>& left_out);

} // namespace comad::discovery
