// SPDX-License-Identifier: MIT
// sweep_table.cpp - chooses the columns that fit, and formats the rows of ports.
#include "text/sweep_table.hpp"

#include "comad.hpp"
#include "text/terminal.hpp"
#include <comad/counters/detail/comparison.hpp>
#include <comad/counters/detail/counter_fields.hpp>
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace ibtool {
namespace {

using counters::counter;
using counters::detail::sweep_row;

/// A number in at most six places: 999999, 12.3M.
std::string scaled(double value) {
    constexpr std::string_view units = "kMGTPE";
    if (value < 999999.5) return fmt::format("{:.0f}", value);
    std::size_t unit = 0;
    for (value /= 1000; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
    return fmt::format("{:.{}f}{}", value, value < 99.95 ? 1 : 0, units[unit]);
}

std::string cell(const sweep_row& r, counter c) {
    const counters::counter_values& now = r.now.counters.counters;
    if (!now.has(c)) return "-";
    if (r.is_new) return "?";
    if (!r.has_changes()) {
        const double units = is_data(c) ? 4 : 1;
        return scaled(units * static_cast<double>(now[c])) + (now.is_pegged(c) ? "+" : "");
    }
    const counters::counter_change change = r.change(c);
    if (change.what == counters::counter_change::state::unknown) return "?";
    return scaled(rate_of(c, change, r.interval())) + (change.is_exact() ? "" : "+");
}

std::string errors_cell(const sweep_row& r) {
    if (r.is_new) return "?";
    const counters::detail::error_sum all = errors_of(r);
    return scaled(static_cast<double>(all.sum)) + (all.is_more ? "+" : "");
}

/// Returns a share in percent: `12.5`, `100`.
std::string percent(const std::optional<counters::link_share>& share) {
    if (!share) return "-";
    constexpr double whole = 100, shortest_whole = 99.95;
    const double value = whole * share->value;
    return fmt::format("{:.{}f}{}", value, value < shortest_whole ? 1 : 0, share->is_lower_bound ? "+" : "");
}

bool is_by_share(const counters::row_selection& s) {
    return s.order == counters::row_order::by_utilization || s.order == counters::row_order::by_congestion;
}

std::string shortened(std::string text, std::size_t width) {
    if (columns_of(text) <= width) return text;
    return std::string(cut_to(text, width - 2)) + "..";
}

/// The columns of a table that a terminal has room for: first those that are missed least go.
struct table_shape {
    std::size_t name = 32;
    std::array<bool, 5> has{true, true, true, true, true}; ///< of the numbers
    bool has_errors = true;
    bool has_shares = false;   ///< of the data rate in each direction, and of the time
    std::size_t sorted_by = 0; ///< of the counter that rows are sorted by, if it has no column of its own; 0: none

    std::size_t numbers_and_port() const {
        constexpr std::size_t port = 5, errors = 9, number = 10, shares = 21;
        return port + (has_errors ? errors : 0) + (has_shares ? shares : 0) + (sorted_by != 0 ? 1 + sorted_by : 0) +
               number * static_cast<std::size_t>(std::ranges::count(has, true));
    }
};

table_shape shape_for(std::size_t columns, std::size_t sorted_by, bool has_shares, bool needs_shares) {
    constexpr std::size_t least_name = 16, shortest_name = 6, most_name = 64;
    table_shape shape;
    shape.sorted_by = sorted_by;
    shape.has_shares = has_shares;
    if (columns == 0) return shape;
    const auto is_too_wide = [&] { return columns < shape.numbers_and_port() + least_name; };
    if (is_too_wide()) shape.has[2] = shape.has[3] = false; // packets
    if (is_too_wide()) shape.has[4] = false;                // waiting
    if (is_too_wide()) shape.has_shares = has_shares && needs_shares;
    if (is_too_wide()) shape.has[1] = false; // received
    if (is_too_wide()) shape.has_errors = false;
    if (columns < shape.numbers_and_port() + shortest_name) shape.has[0] = false; // rather than a part of a number
    const std::size_t least = shape.numbers_and_port() + shortest_name;
    shape.name = columns < least ? shortest_name : std::min(columns - shape.numbers_and_port(), most_name);
    return shape;
}

std::string table_line(const table_shape& shape, const std::string& name, const std::string& port,
                       const std::array<std::string, 5>& numbers, const std::string& errors,
                       const std::array<std::string, 3>& shares, const std::string& sorted_by) {
    std::string line = fmt::format("{} {:>4}", padded(name, shape.name), port);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (shape.has[i]) line += fmt::format(" {:>9}", numbers[i]);
    if (shape.has_errors) line += fmt::format(" {:>8}", errors);
    for (const std::string& share : shares)
        if (shape.has_shares) line += fmt::format(" {:>6}", share);
    if (shape.sorted_by != 0) line += fmt::format(" {:>{}}", sorted_by, shape.sorted_by);
    return line + '\n';
}

/// Returns a line for each detail of the port with counters other than 0, or with increases since the sweep before.
std::string detail_lines(const sweep_row& r) {
    std::string lines;
    const auto add = [&]<class T>(const T& now) {
        T before;
        bool is_known = !r.has_changes();
        for (std::size_t i = 0; r.has_changes() && i < r.before->details.size(); ++i)
            if (const T* found = std::get_if<T>(&r.before->details[i])) before = *found, is_known = true;
        if (!is_known) return;
        const auto bytes = iba::encode(now), bytes_before = iba::encode(before);
        std::string text;
        counters::for_each_counter_field(iba::info_of<T>, [&](const counters::counter_field& field) {
            const u64 number = iba::bits_at(bytes.data(), field.offset(), field.width());
            const u64 was = iba::bits_at(bytes_before.data(), field.offset(), field.width());
            const u64 more = number < was ? number : number - was; // a lower number was cleared in between
            if (more != 0) text += fmt::format("{} {} {}", text.empty() ? "" : ",", field.name(), more);
        });
        if (!text.empty()) lines += fmt::format("    {}:{}\n", counters::attribute_name<T>, text);
    };
    for (const counters::port_detail& d : r.now.details) std::visit(add, d);
    return lines;
}

constexpr counter shown[] = {counter::portXmitData, counter::portRcvData, counter::portXmitPkts, counter::portRcvPkts,
                             counter::portXmitWait};

} // namespace

std::string sweep_table(const counters::sweep_view& v, const counters::row_selection& selection, std::size_t columns) {
    const std::string per = v.before ? "/s" : "";
    const bool has_own_column =
        selection.order != counters::row_order::by_counter || std::ranges::count(shown, selection.by) != 0;
    const std::string sorted_by = has_own_column ? std::string() : fmt::format("{}{}", name_of(selection.by), per);
    const table_shape shape = shape_for(columns, sorted_by.size(), v.before != nullptr, is_by_share(selection));
    const double took = comad::mad::in_seconds(v.now.end - v.now.begin);
    const std::string missing = v.now.failures.empty() ? "" : fmt::format(", {} missing", v.now.failures.size());
    std::string text = fmt::format("# sweep {} at {:.3f} s: {} ports{}, {} MADs, {:.1f} ms{}\n", v.number, v.seconds,
                                   v.now.ports.size(), missing, v.now.mads, took * 1e3, v.before ? "" : "; totals");
    if (v.since) text += fmt::format("# since {}\n", earlier_text(*v.since));
    text += table_line(shape, "#node", "port",
                       {"xmit B" + per, "rcv B" + per, "xmit pk" + per, "rcv pk" + per, "wait" + per}, "errors",
                       {"xmit%", "rcv%", "wait%"}, sorted_by);
    for (const std::size_t i : counters::detail::rows_of(v, selection)) {
        const sweep_row r = counters::detail::sweep_row_at(v, i);
        std::array<std::string, 5> numbers;
        for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = cell(r, shown[n]);
        const counters::link_use use = r.use(v.subnet);
        text += table_line(shape, shortened(iba::escaped(counters::detail::name_at(v, r.now)), shape.name),
                           fmt::format("{}", r.now.where.port), numbers, errors_cell(r),
                           {percent(use.xmit), percent(use.rcv), percent(use.congestion)},
                           has_own_column ? std::string() : cell(r, selection.by)) +
                detail_lines(r);
    }
    return text;
}

} // namespace ibtool
