// SPDX-License-Identifier: MIT
// levels.hpp - levels of a part of a fabric. Knows no form of an export.
#pragma once
#include <comad/discovery/formats/exports.hpp>

#include <vector>

namespace comad::discovery {

/// As levels_of(const subnet&), where the nodes that `left_out` has by index are neither an edge nor a way.
std::vector<unsigned> levels_of(const subnet&, const std::vector<bool>& left_out);

} // namespace comad::discovery
