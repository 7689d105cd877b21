// SPDX-License-Identifier: MIT
// ibcheckroutes_text.hpp - what is wrong with the routes of a subnet, a line for each finding or a JSON object. Asks nobody.
#pragma once
#include <comad/discovery/routing/detail/credit_loops.hpp>
#include <comad/discovery/routing/routes.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// One thing that is wrong: the line of text and that of JSON.
struct route_finding {
    std::string text, json;
};

/// LIDs that two ports have, ports without one; faults of the unicast tables; trees of multicast LIDs; credit loops.
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::lid_index&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::lid_index&,
                                       const comad::discovery::route_check&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::group_check&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::credit_check&);

/// `5-9, 14`; of many the first few and how many more.
std::string lid_ranges(const std::vector<comad::u16>& lids);

} // namespace ibtool
