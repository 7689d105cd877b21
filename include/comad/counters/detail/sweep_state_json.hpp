// SPDX-License-Identifier: MIT
// sweep_state_json.hpp - a summary of a sweep as a JSON value, for the first line of sweep_json() and for ibtool. The header is not
// installed, because it needs nlohmann_json.
#pragma once
#include <comad/counters/formats.hpp>

#include <nlohmann/json_fwd.hpp>

namespace comad::counters::detail {

/// Returns the number, time and size of the sweep.
nlohmann::ordered_json sweep_state_json(const sweep_view&);
/// Returns what is known about the sweep of an earlier run.
nlohmann::ordered_json earlier_sweep_json(const earlier_sweep&);

} // namespace comad::counters::detail
