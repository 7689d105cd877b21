// SPDX-License-Identifier: MIT
// subnet_page.hpp - formats a subnet as one self-contained HTML page with data and script. Does not depend on a schedule.
#pragma once
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// Returns the page. `errors`: a sweep of the same subnet; the error counters of both ends of each link are added up; null: no sweep.
std::string subnet_page(const comad::discovery::subnet&, const comad::discovery::node_names&,
                        const comad::counters::sweep* errors);

} // namespace ibtool
