// SPDX-License-Identifier: MIT
// subnet_missing.hpp - what is missing of a subnet, and of a sweep of it. Knows no schedule.
#pragma once
#include "text/missing.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/routing/forwarding.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// Something of a port; port 0: of the node. `text`, `cause`: as missing_answer's.
missing_answer missing_at(const comad::discovery::subnet&, comad::discovery::port_ref, std::string text,
                          std::string cause = {});
missing_answer missing_of(const comad::discovery::subnet&, const comad::discovery::problem&);
missing_answer missing_of(const comad::discovery::subnet&, const comad::counters::gap&);

/// What could not be read of the switches' tables.
std::vector<missing_answer> missing_of(const comad::discovery::subnet&, const comad::discovery::forwarding_tables&);

/// All problems of the discovery, then all gaps of the sweep.
std::vector<missing_answer> all_missing(const comad::discovery::subnet&, const std::vector<comad::counters::gap>& = {});

} // namespace ibtool
