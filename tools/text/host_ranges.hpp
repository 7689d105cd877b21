// SPDX-License-Identifier: MIT
// host_ranges.hpp - combines consecutive host names to ranges: node-01, node-02, node-03 become node-01-03.
#pragma once
#include <string>
#include <vector>

namespace ibtool {

/// Returns the ranges as infiniband-diags' ibfindnodesusing prints them: grouped by the text before the final number, sorted by number.
std::vector<std::string> host_ranges(const std::vector<std::string>& names);

} // namespace ibtool
