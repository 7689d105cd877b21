// SPDX-License-Identifier: MIT
// sweep_rows.hpp - one port in a sweep and in the previous sweep, and the selection of ports, for the tables, the JSON and the CSV of
// sweeps.
#pragma once
#include <comad/counters/formats.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace comad::counters::detail {

/// The two samples of one port, and the differences between them.
struct sweep_row {
    const reading& now;
    const reading* before; ///< null: there is no previous sample
    bool is_new = false;   ///< there is a previous sweep, but it has no sample of this port

    bool has_changes() const { return before != nullptr; }
    counter_change change(counter c) const { return change_of(c, before->counters, now.counters); }
    mad::duration interval() const { return now.counters.at - before->counters.at; }
    double rate(counter c) const { return rate_of(c, change(c), interval()); }
    link_use use(const discovery::subnet& s) const { return before ? use_of(s, *before, now) : link_use{}; }
};

/// Returns the row of a port by its index in the sweep.
inline sweep_row sweep_row_at(const sweep_view& v, std::size_t index) {
    const auto* before = v.before && v.before->ports[index].valid ? &v.before->ports[index] : nullptr;
    return {v.now.ports[index], before, v.before && !before};
}

/// Returns the indices of the selected rows, in order.
std::vector<std::size_t> rows_of(const sweep_view&, const row_selection&);

/// The sum of all error counters, or of their increases.
struct error_sum {
    u64 sum = 0;
    bool is_more = false; ///< `sum` is a lower bound
};
error_sum errors_of(const sweep_row&);

/// Returns the name of the node.
inline std::string name_at(const sweep_view& v, const reading& r) { return v.names.of(v.subnet.nodes[r.where.node]); }

/// Returns the value of a counter as text: for data in bytes, else the number itself.
std::string in_units(counter, u64 number);

} // namespace comad::counters::detail
