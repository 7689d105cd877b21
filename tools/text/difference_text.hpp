// SPDX-License-Identifier: MIT
// difference_text.hpp - formats the differences between two subnets as lines and as JSON.
#pragma once
#include <comad/discovery/compare/difference.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// Returns a heading for each subject with the counts in both subnets, and a line for each difference.
std::string format_difference(const comad::discovery::subnet& was, const comad::discovery::subnet& is,
                              const std::vector<comad::discovery::difference>&);

/// Returns one line: `link PORT <=> PORT removed`, `rate PORT <=> PORT changed: is NEW, was OLD`.
std::string format_difference(const comad::discovery::difference&);
/// Returns `subject`, `kind`, the location as numbers and as text, and for changes `was` and `is`.
nlohmann::ordered_json difference_item_json(const comad::discovery::difference&);
/// Returns one JSON object of schema `comad.subnet_diff/1`.
std::string difference_json(const comad::discovery::subnet& was, const comad::discovery::subnet& is,
                            const std::vector<comad::discovery::difference>&);

} // namespace ibtool
