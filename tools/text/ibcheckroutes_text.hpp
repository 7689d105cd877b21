// SPDX-License-Identifier: MIT
// ibcheckroutes_text.hpp - formats problems of the routes of a subnet: a line or a JSON object for each. Sends nothing.
#pragma once
#include <comad/discovery/routing/detail/credit_loops.hpp>
#include <comad/discovery/routing/routes.hpp>

#include <string>
#include <vector>

namespace ibtool {

/// One problem, as a line of text and as a line of JSON.
struct route_finding {
    std::string text, json;
};

/// Return the problems: duplicate and missing LIDs; faults of unicast tables; faults of multicast trees; credit loops.
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::lid_index&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::lid_index&,
                                       const comad::discovery::route_check&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::group_check&);
std::vector<route_finding> findings_of(const comad::discovery::subnet&, const comad::discovery::credit_check&);

/// Returns `5-9, 14`; for many LIDs the first ones and the number of others.
std::string lid_ranges(const std::vector<comad::u16>& lids);

} // namespace ibtool
