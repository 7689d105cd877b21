// SPDX-License-Identifier: MIT
// ibutils_plan.hpp - reads a topology file of ibutils (ibdm-topo-file(1)) as a cabling plan. Does not depend on a subnet.
#pragma once
#include <comad/discovery/compare/detail/cabling.hpp>

#include <string_view>
#include <vector>

namespace ibtool {

/// Returns whether a text is such a file: its first line that is neither empty nor a comment starts a system, and the next one connects a
/// port of it with `->`.
bool is_ibutils_plan(std::string_view text);

/// Reads the sections `TYPE NAME` and their lines `P1 -4x-10G-> TYPE NAME P2`. A port is `P` and a number, or a number. The file does not
/// contain the chips of systems with several switches, so ports such as `L1/P2` are refused.
/// Errors: throws std::runtime_error with one line, `fabric.topo:7: ...`.
std::vector<comad::discovery::planned_cable> read_ibutils_plan(std::string_view text, std::string_view name);

} // namespace ibtool
