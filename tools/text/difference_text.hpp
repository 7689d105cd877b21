// SPDX-License-Identifier: MIT
// difference_text.hpp - what differs between two subnets, as lines and as JSON. Compares nothing.
#pragma once
#include <comad/discovery/compare/difference.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// A heading for each subject with how many there are in both, and a line for each difference.
std::string difference_text(const comad::discovery::subnet& was, const comad::discovery::subnet& is,
                            const std::vector<comad::discovery::difference>&);

/// One line: `link PORT <=> PORT removed`, `rate PORT <=> PORT changed: is NEW, was OLD`.
std::string format_difference(const comad::discovery::difference&);
/// `subject`, `kind`, its place as numbers and for people, and of what changed `was` and `is`.
nlohmann::ordered_json difference_item_json(const comad::discovery::difference&);
/// One JSON object, schema `comad.subnet_diff/1`.
std::string difference_json(const comad::discovery::subnet& was, const comad::discovery::subnet& is,
                            const std::vector<comad::discovery::difference>&);

} // namespace ibtool
