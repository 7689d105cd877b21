// SPDX-License-Identifier: MIT
// ibswportwatch_text.hpp - what happened to the counters of a port between readings of it, as lines and as JSON. Knows no clock.
#pragma once
#include "input/error_thresholds.hpp"
#include <comad/counters/port_counters.hpp>

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <string>

namespace ibtool {

/// The counters of `which` that were read, in perfquery's format.
std::string counters_text(const comad::counters::counter_values&,
                          comad::counters::counter_set which = comad::counters::counter_set::all());
/// A line for each counter that changed: `PortXmitData:....................1000 (+400.0 B/s)`, and where that is not all of
/// the truth, what is. `above`: only those that change more often than so many times a second; null: all.
std::string changes_text(const comad::counters::sample& before, const comad::counters::sample& after,
                         const error_thresholds* above = nullptr);

/// The same by name.
nlohmann::ordered_json counters_json(const comad::counters::counter_values&,
                                     comad::counters::counter_set which = comad::counters::counter_set::all());
/// By name, of what changed: `state`, `value`, of data `bytes`, `per_second`.
nlohmann::ordered_json changes_json(const comad::counters::sample& before, const comad::counters::sample& after,
                                    const error_thresholds* above = nullptr);

/// All changes together, over readings in a row.
class change_totals {
public:
    void add(const comad::counters::sample& before, const comad::counters::sample& after);
    /// Lines `PortXmitData:....................+1000 (400.0 B/s)`.
    std::string text() const;
    /// By name: `value`, of data `bytes`, `per_second`, `exact`.
    nlohmann::ordered_json json() const;

private:
    std::array<comad::u64, comad::counters::counter_count> sums_{};
    std::array<bool, comad::counters::counter_count>
        is_more_{}; ///< a reading was behind a counter's end, or behind its being cleared
    comad::mad::duration time_{0};
};

} // namespace ibtool
