// SPDX-License-Identifier: MIT
// subnet_missing.hpp - adds the names of locations to failures of a discovery and of a sweep. Does not depend on a schedule.
#pragma once
#include "comad.hpp"
#include "text/failure_text.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// Returns a failure of a port; port 0: of the node. `text` and `cause` as in discovery::failure.
discovery::failure missing_at(const discovery::subnet&, discovery::port_ref, std::string text, std::string cause = {});
/// Returns the failure with the name of its location, if the node is in the subnet.
discovery::failure missing_of(const discovery::subnet&, discovery::failure);

/// Returns all failures of the discovery, then these of a sweep or of tables, with the names of their locations.
std::vector<discovery::failure> all_missing(const discovery::subnet&, const std::vector<discovery::failure>& = {});
/// Returns only these failures, with the names of their locations.
std::vector<discovery::failure> named_failures(const discovery::subnet&, const std::vector<discovery::failure>&);

} // namespace ibtool
