// SPDX-License-Identifier: MIT
// sweep_csv.cpp - sweeps as lines of CSV.
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/counters/formats.hpp>
#include <comad/iba/detail/csv.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

namespace comad::counters {
std::string sweep_csv_header() {
    std::string line = "sweep,seconds,nodeGUID,description,port";
    for_each_counter([&](counter c) { line.append(",").append(name_of(c)); });
    for_each_counter([&](counter c) {
        if (is_data(c)) line.append(",").append(name_of(c)).append("_bytes");
    });
    return line + "\n";
}

std::string sweep_csv(const sweep_view& v, const row_selection& selection) {
    std::string text;
    for (const std::size_t i : detail::rows_of(v, selection)) {
        const reading& r = v.now.ports[i];
        const counter_values& values = r.counters.counters;
        text += fmt::format("{},{},{},{},{}", v.number, v.seconds, v.subnet.nodes[r.where.node].info.nodeGUID,
                            iba::detail::csv_field(iba::escaped(detail::name_at(v, r))), r.where.port);
        for_each_counter([&](counter c) {
            text += ',';
            if (values.has(c)) text += fmt::format("{}", values[c]);
        });
        for_each_counter([&](counter c) {
            if (!is_data(c)) return;
            text += ',';
            if (values.has(c)) text += detail::in_units(c, values[c]);
        });
        text += '\n';
    }
    return text;
}

} // namespace comad::counters
