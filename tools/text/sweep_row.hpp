// SPDX-License-Identifier: MIT
// sweep_row.hpp - one port in a sweep and in the previous sweep, for the tables and the JSON of sweeps.
#pragma once
#include "text/sweep_text.hpp"

namespace ibtool {

/// The two samples of one port, and the differences between them.
struct sweep_row {
    const comad::counters::reading& now;
    const comad::counters::reading* before; ///< null: there is no previous sample

    bool has_changes() const { return before != nullptr; }
    comad::counters::counter_change change(comad::counters::counter c) const {
        return change_of(c, before->counters, now.counters);
    }
    comad::mad::duration interval() const { return now.counters.at - before->counters.at; }
    double rate(comad::counters::counter c) const { return rate_of(c, change(c), interval()); }
};

/// Returns the row of a port by its index in the sweep.
inline sweep_row sweep_row_at(const sweep_view& v, std::size_t index) {
    const auto* before = v.before && v.before->ports[index].valid ? &v.before->ports[index] : nullptr;
    return {v.now.ports[index], before};
}

} // namespace ibtool
