// SPDX-License-Identifier: MIT
// levels_above_edge.hpp - levels of a part of a fabric.
#pragma once
#include <comad/discovery/formats/exports.hpp>

#include <vector>

namespace comad::discovery {

/// As levels_above_edge(const subnet&), without some nodes: those for which `left_out`, by index, is true are not part of the edge, and
/// links through them do not count.
std::vector<unsigned> levels_above_edge(const subnet&, const std::vector<bool>& left_out);

} // namespace comad::discovery
