// SPDX-License-Identifier: MIT
// ibswportwatch_text.hpp - formats the changes of a port's counters between samples as lines and as JSON. Does not read a clock.
#pragma once
#include "input/error_thresholds.hpp"
#include <comad/counters/port_counters.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <string>

namespace ibtool {

/// Returns the counters of `which` that were read, in perfquery's format.
std::string format_counters(const comad::counters::counter_values&,
                            comad::counters::counter_set which = comad::counters::counter_set::all());
/// Returns a line for each counter that changed: `PortXmitData:....................1000 (+400.0 B/s)`, with a note if the value is not
/// exact. `above`: only counters that change faster than this rate per second; null: all.
std::string format_changes(const comad::counters::sample& before, const comad::counters::sample& after,
                           const error_thresholds* above = nullptr);

/// Returns the counters as JSON, by name.
nlohmann::ordered_json counters_json(const comad::counters::counter_values&,
                                     comad::counters::counter_set which = comad::counters::counter_set::all());
/// Returns the changed counters by name: `state`, `value`, for data `bytes`, `per_second`.
nlohmann::ordered_json changes_json(const comad::counters::sample& before, const comad::counters::sample& after,
                                    const error_thresholds* above = nullptr);

/// The sums of all changes over consecutive samples.
class change_totals {
public:
    void add(const comad::counters::sample& before, const comad::counters::sample& after);
    /// Returns lines `PortXmitData:....................+1000 (400.0 B/s)`.
    std::string text() const;
    /// Returns by name: `value`, for data `bytes`, `per_second`, `exact`.
    nlohmann::ordered_json json() const;

private:
    std::array<comad::u64, comad::counters::counter_count> sums_{};
    std::array<bool, comad::counters::counter_count> is_more_{}; ///< a counter was saturated or cleared in between
    comad::mad::duration time_{0};
};

} // namespace ibtool
