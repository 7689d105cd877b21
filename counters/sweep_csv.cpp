// SPDX-License-Identifier: MIT
// sweep_csv.cpp - sweeps as lines of CSV.
#include <comad/counters/detail/counter_fields.hpp>
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/counters/formats.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/csv.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <variant>

namespace comad::counters {
namespace {

/// Calls f(type) for each type of the replies that a port can return for these attributes, as a null pointer of that type.
template <class F> void for_each_reply_type(port_detail_set details, F&& f) {
    const auto call = [&]<class T>(const T* type) {
        if (!details.has<T>()) return;
        f(type);
        if constexpr (std::is_same_v<T, iba::pm::PortExtendedSpeedsCounters>)
            f(static_cast<const iba::pm::PortExtendedSpeedsCountersRSFEC*>(nullptr));
    };
    [&]<class... T>(const std::tuple<T...>*) {
        (call(static_cast<const T*>(nullptr)), ...);
    }(static_cast<const detail_types*>(nullptr));
}

/// Returns `,PortRcvErrorDetails.portLocalPhysicalErrors,...`.
std::string detail_columns(port_detail_set details) {
    std::string line = details.has<iba::pm::PortExtendedSpeedsCounters>() ? ",FECModeActive" : "";
    for_each_reply_type(details, [&]<class T>(const T*) {
        for_each_counter_field(iba::info_of<T>, [&](const counter_field& field) {
            fmt::format_to(std::back_inserter(line), ",{}.{}", attribute_name<T>, field.name());
        });
    });
    return line;
}

/// Returns the cells of detail_columns().
std::string detail_cells(const reading& r, port_detail_set details) {
    std::string line;
    if (details.has<iba::pm::PortExtendedSpeedsCounters>())
        (line += ',') += r.FEC ? iba::name_or_number(*r.FEC) : std::string();
    for_each_reply_type(details, [&]<class T>(const T*) {
        const auto found =
            std::ranges::find_if(r.details, [](const port_detail& d) { return std::holds_alternative<T>(d); });
        const bool is_read = found != r.details.end();
        const auto bytes = iba::encode(is_read ? std::get<T>(*found) : T{});
        for_each_counter_field(iba::info_of<T>, [&](const counter_field& field) {
            line += ',';
            if (is_read)
                fmt::format_to(std::back_inserter(line), "{}",
                               iba::bits_at(bytes.data(), field.offset(), field.width()));
        });
    });
    return line;
}

constexpr std::string_view link_columns =
    ",portState,portPhysicalState,linkWidthActive,linkSpeedActive,bits_per_second,"
    "tick_seconds,utilization_xmit,utilization_rcv,congestion";

/// Returns the cells of link_columns. A cell is empty if its value is not known.
std::string link_cells(const sweep_view& v, const detail::sweep_row& row) {
    const discovery::port& p = v.subnet.at(row.now.where);
    std::string line = ",,,,,";
    if (p.info) {
        line = fmt::format(",{},{}", iba::name_or_number(p.info->portState),
                           iba::name_or_number(p.info->portPhysicalState));
        const bool is_up = p.info->portState != iba::PortState::Down;
        line += is_up ? fmt::format(",{},{},{:.0f}", discovery::format_link_width(p),
                                    discovery::format_link_speed(v.subnet, row.now.where),
                                    discovery::data_bits_per_second(v.subnet, row.now.where))
                      : ",,,";
    }
    const auto add = [&](std::optional<double> number) {
        line += ',';
        if (number) fmt::format_to(std::back_inserter(line), "{}", *number);
    };
    const auto number = [](const std::optional<link_share>& share) {
        return share ? std::optional(share->value) : std::nullopt;
    };
    const link_use use = row.use(v.subnet);
    add(tick_seconds(v.subnet, row.now));
    add(number(use.xmit));
    add(number(use.rcv));
    add(number(use.congestion));
    return line;
}

} // namespace

std::string sweep_csv_header(port_detail_set details) {
    std::string line = "sweep,seconds,nodeGUID,description,port";
    for_each_counter([&](counter c) { line.append(",").append(name_of(c)); });
    for_each_counter([&](counter c) {
        if (is_data(c)) line.append(",").append(name_of(c)).append("_bytes");
    });
    return line.append(link_columns).append(detail_columns(details)).append("\n");
}

std::string sweep_csv(const sweep_view& v, const row_selection& selection, port_detail_set details) {
    std::string text;
    for (const std::size_t i : detail::rows_of(v, selection)) {
        const reading& r = v.now.ports[i];
        const counter_values& values = r.counters.counters;
        text += fmt::format("{},{},{},{},{}", v.number, v.seconds, v.subnet.nodes[r.where.node].info.nodeGUID,
                            iba::csv_text(detail::name_at(v, r)), r.where.port);
        for_each_counter([&](counter c) {
            text += ',';
            if (values.has(c)) text += fmt::format("{}", values[c]);
        });
        for_each_counter([&](counter c) {
            if (!is_data(c)) return;
            text += ',';
            if (values.has(c)) text += detail::in_units(c, values[c]);
        });
        text += link_cells(v, detail::sweep_row_at(v, i)) + detail_cells(r, details) + '\n';
    }
    return text;
}

} // namespace comad::counters
