// SPDX-License-Identifier: MIT
// summary_text.hpp - formats a subnet as a summary on one screen, or as JSON. Sends nothing.
#pragma once
#include "text/subnet_managers.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// What a summary describes.
struct summarized_subnet {
    const comad::discovery::subnet& s;
    const comad::discovery::node_names& names;
    std::vector<manager_facts> managers; ///< masters first
    bool is_managers_known = true;       ///< false: the subnet is from a file, and no manager was queried
    std::size_t most_named = 5;          ///< lines for each list of cables, ports, devices, managers and failures
};

/// Returns the summary as text: nodes, devices, subnet managers, LIDs, ports by state, width, speed and MTU, and problems.
std::string format_summary(const summarized_subnet&);
/// Returns the summary as one JSON document (comad.summary/1), with complete lists.
std::string summary_json(const summarized_subnet&);

} // namespace ibtool
