// SPDX-License-Identifier: MIT
// cabling_plan.hpp - a cabling plan from a CSV file (RFC 4180). Knows no subnet.
#pragma once
#include <comad/discovery/cabling.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

inline constexpr std::size_t most_planned_cables = 1'000'000;
inline constexpr std::size_t longest_plan_line = 4096; ///< bytes

/// Lines `node,port,node,port`; further fields say what they like. A field with a comma or a quote in it stands in quotes, and a quote
/// there is two. Empty lines and those that begin with `#` say nothing, nor does a first line with words for ports: it names the
/// columns. Blanks around a field without quotes do not count.
/// Throws std::runtime_error with one line, `plan.csv:7: ...`, where the file is missing, wrong or too large.
std::vector<comad::discovery::planned_cable> read_cabling_plan(const std::string& file);
/// The same of what is open; `name` stands for the file.
std::vector<comad::discovery::planned_cable> read_cabling_plan(std::istream&, std::string_view name);

} // namespace ibtool
