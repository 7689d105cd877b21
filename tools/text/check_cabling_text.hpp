// SPDX-License-Identifier: MIT
// check_cabling_text.hpp - formats the differences between a cabling plan and a subnet as lines and as JSON.
#pragma once
#include <comad/discovery/compare/detail/cabling.hpp>
#include <comad/discovery/database/node_names.hpp>

#include <span>
#include <string>

namespace ibtool {

/// Returns a line for each fault, with the names of the plan, or those of the subnet for extra links. The last line contains the counts.
std::string format_cabling(std::span<const comad::discovery::planned_cable> plan, const comad::discovery::cabling&,
                           const comad::discovery::subnet&, const comad::discovery::node_names&);

/// Returns one JSON object of schema `comad.cabling/1`.
std::string cabling_json(std::span<const comad::discovery::planned_cable> plan, const comad::discovery::cabling&,
                         const comad::discovery::subnet&, const comad::discovery::node_names&);

} // namespace ibtool
