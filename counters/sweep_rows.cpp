// SPDX-License-Identifier: MIT
// sweep_rows.cpp - selects and sorts the rows of ports.
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/discovery/database/detail/link.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>

namespace comad::counters::detail {
namespace {

double weight(const sweep_row& r, counter c) {
    if (r.is_new) return 0; // its total must not be compared with rates
    if (r.has_changes()) return r.rate(c);
    return static_cast<double>(r.now.counters.counters[c]);
}

/// Returns the seconds that the link of a port needed for all data in its busier direction, or that the port waited.
double total_weight(const sweep_view& v, const reading& r, row_order order) {
    const counter_values& total = r.counters.counters;
    if (order == row_order::by_congestion)
        return static_cast<double>(total[counter::portXmitWait]) * tick_seconds(v.subnet, r).value_or(0);
    const double rate = v.subnet.at(r.where).info ? discovery::data_bits_per_second(v.subnet, r.where) : 0;
    const u64 words = std::max(total[counter::portXmitData], total[counter::portRcvData]);
    return rate > 0 ? 32 * static_cast<double>(words) / rate : 0;
}

double weight(const sweep_view& v, const sweep_row& r, row_order order) {
    if (r.is_new) return 0; // its total must not be compared with shares
    if (!r.has_changes()) return total_weight(v, r.now, order);
    const link_use use = r.use(v.subnet);
    const auto number = [](const std::optional<link_share>& share) { return share ? share->value : 0; };
    return order == row_order::by_congestion ? number(use.congestion) : std::max(number(use.xmit), number(use.rcv));
}

/// Returns whether the text contains the part. Ignores the case of ASCII letters.
bool contains_word(std::string_view text, std::string_view part) {
    const auto is_same = [](char a, char b) {
        const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return small(a) == small(b);
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), is_same) != text.end();
}

} // namespace

error_sum errors_of(const sweep_row& r) {
    error_sum all;
    auto& [sum, is_more] = all;
    for_each_counter([&](counter c) {
        if (!is_error(c) || !r.now.counters.counters.has(c) || r.is_new) return;
        if (!r.has_changes()) {
            sum += r.now.counters.counters[c];
            is_more |= r.now.counters.counters.is_pegged(c);
            return;
        }
        const counter_change change = r.change(c);
        sum += change.value;
        is_more |= !change.is_exact();
    });
    return all;
}

std::string in_units(counter c, u64 number) {
    if (!is_data(c)) return fmt::format("{}", number);
    if (number <= ~u64{0} / 4) return fmt::format("{}", 4 * number);
    return fmt::format("{:.0f}", 4.0 * static_cast<double>(number));
}

std::vector<std::size_t> rows_of(const sweep_view& v, const row_selection& selection) {
    std::vector<std::size_t> rows(v.now.ports.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const std::string& part = selection.part_of_name;
    std::erase_if(rows, [&](std::size_t i) {
        const reading& r = v.now.ports[i];
        return !r.valid || (!part.empty() && !contains_word(name_at(v, r), part));
    });
    const std::size_t shown = selection.top ? std::min(selection.top, rows.size()) : rows.size();
    const auto sort_by = [&](auto&& weight_of) {
        std::vector<double> weights(v.now.ports.size());
        for (const std::size_t i : rows) weights[i] = weight_of(sweep_row_at(v, i));
        // Equal rows keep their order.
        const auto is_before = [&](std::size_t a, std::size_t b) {
            return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
        };
        const auto end = rows.begin() + static_cast<std::ptrdiff_t>(shown);
        std::nth_element(rows.begin(), end, rows.end(), is_before);
        std::sort(rows.begin(), end, is_before);
    };
    switch (selection.order) {
    case row_order::of_subnet: break;
    case row_order::by_counter: sort_by([&](const sweep_row& r) { return weight(r, selection.by); }); break;
    case row_order::by_utilization:
    case row_order::by_congestion: sort_by([&](const sweep_row& r) { return weight(v, r, selection.order); }); break;
    case row_order::by_errors: sort_by([](const sweep_row& r) { return static_cast<double>(errors_of(r).sum); }); break;
    }
    rows.resize(shown);
    return rows;
}

} // namespace comad::counters::detail
