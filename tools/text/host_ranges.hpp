// SPDX-License-Identifier: MIT
// host_ranges.hpp - names of hosts with what is consecutive made ranges: node-01, node-02, node-03 as node-01-03.
#pragma once
#include <string>
#include <vector>

namespace ibtool {

/// As infiniband-diags' ibfindnodesusing has them: by what stands before the number at the end, each by number.
std::vector<std::string> host_ranges(const std::vector<std::string>& names);

} // namespace ibtool
