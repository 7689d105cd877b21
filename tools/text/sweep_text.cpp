// SPDX-License-Identifier: MIT
// sweep_text.cpp - formats sweeps: selects and sorts the ports, and makes the rows of tables and CSV files.
#include "text/sweep_text.hpp"

#include "comad.hpp"
#include "text/sweep_row.hpp"
#include "text/terminal.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ibtool {
namespace {

using counters::counter;
using counters::for_each_counter;
using counters::reading;

double weight(const sweep_row& r, counter c) {
    if (r.has_changes()) return r.rate(c);
    return static_cast<double>(r.now.counters.counters[c]);
}

/// Formats a number with at most six characters: 999999, 12.3M.
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
    if (!r.has_changes()) {
        const double units = is_data(c) ? 4 : 1;
        return scaled(units * static_cast<double>(now[c])) + (now.is_pegged(c) ? "+" : "");
    }
    const counters::counter_change change = r.change(c);
    if (change.what == counters::counter_change::state::unknown) return "?";
    return scaled(rate_of(c, change, r.interval())) + (change.is_exact() ? "" : "+");
}

/// The number of all errors together, not their rate.
struct error_sum {
    u64 sum = 0;
    bool is_more = false;
};

error_sum errors_of(const sweep_row& r) {
    error_sum all;
    auto& [sum, is_more] = all;
    for_each_counter([&](counter c) {
        if (!is_error(c) || !r.now.counters.counters.has(c)) return;
        if (!r.has_changes()) {
            sum += r.now.counters.counters[c];
            is_more |= r.now.counters.counters.is_pegged(c);
            return;
        }
        const counters::counter_change change = r.change(c);
        sum += change.value;
        is_more |= !change.is_exact();
    });
    return all;
}

std::string errors_cell(const sweep_row& r) {
    const error_sum all = errors_of(r);
    return scaled(static_cast<double>(all.sum)) + (all.is_more ? "+" : "");
}

std::string shortened(std::string text, std::size_t width) {
    if (columns_of(text) <= width) return text;
    return std::string(cut_to(text, width - 2)) + "..";
}

/// Returns whether the text contains the part, ignoring the case of ASCII letters.
bool contains_word(std::string_view text, std::string_view part) {
    const auto is_same = [](char a, char b) {
        const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return small(a) == small(b);
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same) != text.end() || part.empty();
}

std::string name_at(const sweep_view& v, const reading& l) { return v.names.of(v.subnet.nodes[l.where.node]); }

} // namespace

std::string in_units(counter c, u64 number) {
    if (!is_data(c)) return fmt::format("{}", number);
    if (number <= ~u64{0} / 4) return fmt::format("{}", 4 * number);
    return fmt::format("{:.0f}", 4.0 * static_cast<double>(number));
}

std::vector<std::size_t> rows_of(const sweep_view& v, const table_choice& choice) {
    std::vector<std::size_t> rows(v.now.ports.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    std::erase_if(rows, [&](std::size_t i) {
        return !v.now.ports[i].valid || !contains_word(name_at(v, v.now.ports[i]), choice.part_of_name);
    });
    const auto sort_by = [&](auto&& weight_of) {
        std::vector<double> weights(v.now.ports.size());
        for (const std::size_t i : rows) weights[i] = weight_of(sweep_row_at(v, i));
        std::stable_sort(rows.begin(), rows.end(),
                         [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    };
    switch (choice.order) {
    case row_order::of_subnet: break;
    case row_order::by_counter: sort_by([&](const sweep_row& r) { return weight(r, choice.by); }); break;
    case row_order::by_errors: sort_by([](const sweep_row& r) { return static_cast<double>(errors_of(r).sum); }); break;
    }
    if (choice.top && rows.size() > choice.top) rows.resize(choice.top);
    return rows;
}

namespace {

/// The columns of a table that fit on the terminal. The least important columns are removed first.
struct table_shape {
    std::size_t name = 32;
    std::array<bool, 5> has{true, true, true, true, true}; ///< whether the table has each column of numbers
    bool has_errors = true;
    std::size_t sorted_by = 0; ///< counter that rows are sorted by, if it has no column of its own; 0: none

    std::size_t numbers_and_port() const {
        constexpr std::size_t port = 5, errors = 9, number = 10;
        return port + (has_errors ? errors : 0) + (sorted_by != 0 ? 1 + sorted_by : 0) +
               number * static_cast<std::size_t>(std::ranges::count(has, true));
    }
};

table_shape shape_for(std::size_t columns, std::size_t sorted_by) {
    constexpr std::size_t least_name = 16, shortest_name = 6, most_name = 64;
    table_shape shape;
    shape.sorted_by = sorted_by;
    if (columns == 0) return shape;
    const auto is_too_wide = [&] { return columns < shape.numbers_and_port() + least_name; };
    if (is_too_wide()) shape.has[2] = shape.has[3] = false; // packets
    if (is_too_wide()) shape.has[4] = false;                // waiting
    if (is_too_wide()) shape.has[1] = false;                // received
    if (is_too_wide()) shape.has_errors = false;
    if (columns < shape.numbers_and_port() + shortest_name) shape.has[0] = false; // removed before a number is cut off
    const std::size_t least = shape.numbers_and_port() + shortest_name;
    shape.name = columns < least ? shortest_name : std::min(columns - shape.numbers_and_port(), most_name);
    return shape;
}

std::string table_line(const table_shape& shape, const std::string& name, const std::string& port,
                       const std::array<std::string, 5>& numbers, const std::string& errors,
                       const std::string& sorted_by) {
    std::string line = fmt::format("{} {:>4}", padded(name, shape.name), port);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (shape.has[i]) line += fmt::format(" {:>9}", numbers[i]);
    if (shape.has_errors) line += fmt::format(" {:>8}", errors);
    if (shape.sorted_by != 0) line += fmt::format(" {:>{}}", sorted_by, shape.sorted_by);
    return line + '\n';
}

constexpr counter shown[] = {counter::portXmitData, counter::portRcvData, counter::portXmitPkts, counter::portRcvPkts,
                             counter::portXmitWait};

} // namespace

std::string sweep_table(const sweep_view& v, const table_choice& choice) {
    const std::string per = v.before ? "/s" : "";
    const bool has_own_column = choice.order != row_order::by_counter || std::ranges::count(shown, choice.by) != 0;
    const std::string sorted_by = has_own_column ? std::string() : fmt::format("{}{}", name_of(choice.by), per);
    const table_shape shape = shape_for(choice.columns, sorted_by.size());
    const double took = comad::mad::in_seconds(v.now.end - v.now.begin);
    const std::string missing = v.now.failures.empty() ? "" : fmt::format(", {} missing", v.now.failures.size());
    std::string text = fmt::format("# sweep {} at {:.3f} s: {} ports{}, {} MADs, {:.1f} ms{}\n", v.number, v.seconds,
                                   v.now.ports.size(), missing, v.now.mads, took * 1e3, v.before ? "" : "; totals");
    text +=
        table_line(shape, "#node", "port",
                   {"xmit B" + per, "rcv B" + per, "xmit pk" + per, "rcv pk" + per, "wait" + per}, "errors", sorted_by);
    for (const std::size_t i : rows_of(v, choice)) {
        const sweep_row r = sweep_row_at(v, i);
        std::array<std::string, 5> numbers;
        for (std::size_t n = 0; n < numbers.size(); ++n) numbers[n] = cell(r, shown[n]);
        text += table_line(shape, shortened(iba::escaped(name_at(v, r.now)), shape.name),
                           fmt::format("{}", r.now.where.port), numbers, errors_cell(r),
                           has_own_column ? std::string() : cell(r, choice.by));
    }
    return text;
}

namespace {

/// Returns a field as in RFC 4180. An apostrophe is put before text that a spreadsheet would interpret as a formula.
std::string quoted_field(const std::string& text) {
    std::string quoted = "\"";
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += '\'';
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace

std::string sweep_csv_header() {
    std::string line = "sweep,seconds,nodeGUID,description,port";
    for_each_counter([&](counter c) { line.append(",").append(name_of(c)); });
    for_each_counter([&](counter c) {
        if (is_data(c)) line.append(",").append(name_of(c)).append("_bytes");
    });
    return line + "\n";
}

std::string sweep_csv(const sweep_view& v, const table_choice& choice) {
    std::string text;
    for (const std::size_t i : rows_of(v, choice)) {
        const reading& l = v.now.ports[i];
        text += fmt::format("{},{},{},{},{}", v.number, v.seconds, v.subnet.nodes[l.where.node].info.nodeGUID,
                            quoted_field(iba::escaped(name_at(v, l))), l.where.port);
        for_each_counter([&](counter c) {
            text += ',';
            if (l.counters.counters.has(c)) text += fmt::format("{}", l.counters.counters[c]);
        });
        for_each_counter([&](counter c) {
            if (!is_data(c)) return;
            text += ',';
            if (l.counters.counters.has(c)) text += in_units(c, l.counters.counters[c]);
        });
        text += '\n';
    }
    return text;
}

} // namespace ibtool
