// SPDX-License-Identifier: MIT
// cabling_plan.hpp - a cabling plan from a CSV file (RFC 4180). Knows no subnet.
#pragma once
#include <comad/discovery/compare/detail/cabling.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

inline constexpr std::size_t most_planned_cables = 1'000'000;
inline constexpr std::size_t longest_plan_line = 4096; ///< bytes

/// Reads lines `node,port,node,port`; further fields are ignored. A line with the names StartDevice, StartPort, EndDevice and EndPort
/// (the NDT form), in any case and with or without a `#`, says in which columns these stand; after it a line with only a start is a port
/// without a cable. A port is a number, `Port 21`, `Blade 16_Port 2/20`, or the name of an adapter.
/// A field with a comma or a quote in it stands in quotes, and a quote there is written twice. Blanks around a field without quotes do
/// not count. Empty lines and other lines that start with `#` are ignored, and so is a first line that consists of usual names of columns
/// (`Node A,Port A,Node B,Port B`); no other line is ignored.
/// Throws std::runtime_error with one line, `plan.csv:7: ...`, if the file is missing, wrong or too large.
std::vector<comad::discovery::planned_cable> read_cabling_plan(const std::string& file);
/// Reads an open stream; messages use `name` for the file.
std::vector<comad::discovery::planned_cable> read_cabling_plan(std::istream&, std::string_view name);

} // namespace ibtool
