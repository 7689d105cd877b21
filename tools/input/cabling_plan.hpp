// SPDX-License-Identifier: MIT
// cabling_plan.hpp - reads a cabling plan from a CSV file (RFC 4180). Does not depend on a subnet.
#pragma once
#include <comad/discovery/compare/detail/cabling.hpp>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Limits of a cabling plan.
inline constexpr std::size_t most_planned_cables = 1'000'000;
inline constexpr std::size_t longest_plan_line = 4096; ///< bytes

/// Reads lines `node,port,node,port`; further fields are ignored. A line with the names StartDevice, StartPort, EndDevice and EndPort
/// (the NDT format), in any case and with or without a `#`, defines the columns of these fields. After it, a line with only a start is a
/// port without a cable. A port is a number, `Port 21`, `Blade 16_Port 2/20`, or the name of an adapter.
/// A field that contains a comma or a quote must be quoted, and a quote within it is doubled. Blanks around unquoted fields are ignored.
/// Empty lines and other lines that start with `#` are ignored. A first line with common column names (`Node A,Port A,Node B,Port B`) is
/// also ignored; all other lines are used.
/// A topology file of ibutils is read, too (ibutils_plan.hpp).
/// Errors: throws std::runtime_error with one line, `plan.csv:7: ...`, if the file is missing, wrong or too large.
std::vector<comad::discovery::planned_cable> read_cabling_plan(const std::string& file);
/// Reads an open stream; messages use `name` for the file.
std::vector<comad::discovery::planned_cable> read_cabling_plan(std::istream&, std::string_view name);

} // namespace ibtool
