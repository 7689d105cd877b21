// SPDX-License-Identifier: MIT
// sweep_text.hpp - formats sweeps as tables, lines of JSON and lines of CSV. Does not depend on a schedule.
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

/// One sweep of a sweeper and the one before; `before` is null for the first sweep.
struct sweep_view {
    const comad::discovery::subnet& subnet;
    const comad::discovery::node_names& names;
    const comad::counters::sweep& now;
    const comad::counters::sweep* before;
    comad::u64 number; ///< starts at 1
    double seconds;    ///< time of its start since the start of the first one
    double unix_time;  ///< calendar time of its start; less than 0: virtual time
    std::shared_ptr<const void> kept =
        {}; ///< owner of all data except `before`, for code that keeps the view longer than the call
};

/// The order of rows.
enum class row_order : comad::u8 { of_subnet, by_counter, by_errors };

/// Selects and sorts the rows of a table.
struct table_choice {
    std::size_t top = 0; ///< number of rows; 0: all
    row_order order = row_order::of_subnet;
    comad::counters::counter by{}; ///< largest first: by rate, in the first sweep by value
    std::size_t columns = 0;       ///< width of the terminal; 0: unlimited
    std::string part_of_name{};    ///< only nodes whose name contains this text, ignoring ASCII case
};

namespace detail {
template <class... T> constexpr auto names_of(const std::tuple<T...>*) {
    return std::array<std::string_view, sizeof...(T)>{name_of_group<T>()...};
}
} // namespace detail
/// The names of the counters::detail_types, in their order.
inline constexpr auto detail_names = detail::names_of(static_cast<const comad::counters::detail_types*>(nullptr));

/// Returns the indices of the selected rows, in order.
std::vector<std::size_t> rows_of(const sweep_view&, const table_choice&);

/// Returns a line for each port that was read: totals in the first sweep, then rates per second. A `+` after a number marks a lower bound,
/// because a counter was saturated or cleared.
std::string sweep_table(const sweep_view&, const table_choice&);
/// Returns one JSON object per line: for the sweep, for each port, and for each failure.
std::string sweep_json(const sweep_view&, const table_choice&);
/// Returns a line for each port, with a column for each counter, which is empty if the counter was not read.
std::string sweep_csv(const sweep_view&, const table_choice&);
/// Returns the first line of a CSV file.
std::string sweep_csv_header();

/// Returns the number, time and size of the sweep: members of /health and of the first line of sweep_json().
nlohmann::ordered_json sweep_state_json(const sweep_view&);

/// Returns the value of a counter: for data in bytes, else the number itself.
std::string in_units(comad::counters::counter, comad::u64 number);

} // namespace ibtool
