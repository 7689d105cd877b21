// SPDX-License-Identifier: MIT
// sweep_table.hpp - formats sweeps as tables. Does not depend on a schedule.
#pragma once
#include <comad/counters/formats.hpp>

#include <cstddef>
#include <string>

namespace ibtool {

/// Returns a line for each port that was read: totals in the first sweep, then rates per second. A `+` after a number marks a lower bound,
/// because a counter was saturated or cleared. From the second sweep on, three columns have the use of the link in percent. Counters of details that are not 0, or have increased, follow in lines of
/// their own. `columns`: the width of the terminal; 0: unlimited.
std::string sweep_table(const comad::counters::sweep_view&, const comad::counters::row_selection&,
                        std::size_t columns = 0);

} // namespace ibtool
