// SPDX-License-Identifier: MIT
// subnet_page.hpp - a subnet as one page for a browser, that needs nothing else: data and program are in it. Knows no schedule.
#pragma once
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// `errors`: a sweep of the same subnet, of which all error counters of a link's two ends are summed; null: there was none.
std::string subnet_page(const comad::discovery::subnet&, const comad::discovery::node_names&,
                        const comad::counters::sweep* errors);

} // namespace ibtool
