// SPDX-License-Identifier: MIT
// check_cabling_text.hpp - what of a cabling plan is not so, as lines and as JSON. Compares nothing.
#pragma once
#include <comad/discovery/compare/detail/cabling.hpp>
#include <comad/discovery/database/node_names.hpp>

#include <span>
#include <string>

namespace ibtool {

/// A line for each fault, by the names of the plan, of what is extra by those of the subnet; the last line counts.
std::string cabling_text(std::span<const comad::discovery::planned_cable> plan, const comad::discovery::cabling&,
                         const comad::discovery::subnet&, const comad::discovery::node_names&);

/// One JSON object, schema `comad.cabling/1`.
std::string cabling_json(std::span<const comad::discovery::planned_cable> plan, const comad::discovery::cabling&,
                         const comad::discovery::subnet&, const comad::discovery::node_names&);

} // namespace ibtool
