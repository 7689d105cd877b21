// SPDX-License-Identifier: MIT
// sweep_text.hpp - sweeps as tables, lines of JSON and lines of CSV. Knows no schedule.
#pragma once
#include "text/counter_groups.hpp"
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ibtool {

/// One sweep and the one before, of a sweeper; `before` null: it is the first.
struct sweep_view {
    const comad::discovery::subnet& subnet;
    const comad::discovery::node_names& names;
    const comad::counters::sweep& now;
    const comad::counters::sweep* before;
    comad::u64 number; ///< from 1 on
    double seconds;    ///< when it began, counted from the first
    double unix_time;  ///< the same by the calendar; less than 0: time is simulated
    std::shared_ptr<const void> kept =
        {}; ///< what all but `before` lies in, for who holds the view longer than the call
};

/// What rows are ordered by.
enum class row_order : comad::u8 { of_subnet, by_counter, by_errors };

struct table_choice {
    std::size_t top = 0; ///< so many rows; 0: all
    row_order order = row_order::of_subnet;
    comad::counters::counter by{}; ///< most first: its rate, in the first sweep its value
    std::size_t columns = 0;       ///< of a terminal that a line has to fit into; 0: any number
    std::string part_of_name{};    ///< only nodes whose name contains that, in small or capital letters of ASCII
};

namespace detail {
template <class... T> constexpr auto names_of(const std::tuple<T...>*) {
    return std::array<std::string_view, sizeof...(T)>{name_of_group<T>()...};
}
} // namespace detail
/// The names of the counters::detail_types, in their order.
inline constexpr auto detail_names = detail::names_of(static_cast<const comad::counters::detail_types*>(nullptr));

/// Which rows of the sweep a choice leaves, in order, by index.
std::vector<std::size_t> rows_of(const sweep_view&, const table_choice&);

/// A line for each port that was read; of the first sweep totals, then rates per second. A `+` behind a number: at least so
/// much, because a counter stood at its end or was cleared by somebody.
std::string sweep_table(const sweep_view&, const table_choice&);
/// A JSON object a line: one for the sweep, one for each port, one for each gap.
std::string sweep_json(const sweep_view&, const table_choice&);
/// A line for each port, every counter in a column, empty where it was not told.
std::string sweep_csv(const sweep_view&, const table_choice&);
/// The first line of a CSV file.
std::string sweep_csv_header();

/// The number, time and size of the sweep: members of /health and of the first line of sweep_json().
nlohmann::ordered_json sweep_state_json(const sweep_view&);

/// `timeout`
/// What a counter counted: of data bytes, else the number itself.
std::string in_units(comad::counters::counter, comad::u64 number);

} // namespace ibtool
