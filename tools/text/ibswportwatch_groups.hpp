// SPDX-License-Identifier: MIT
// ibswportwatch_groups.hpp - what happened to the counters of any attribute of performance management between two readings, as lines and
// as JSON. Knows no clock.
#pragma once
#include "text/counter_groups.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace ibtool {

/// A counter that moved.
struct group_change {
    std::string name;       ///< `portVLXmitWait[3]`
    comad::u64 now = 0;     ///< what it tells
    comad::u64 counted = 0; ///< at least, where `is_more`
    bool is_more = false;   ///< it stands at its end, or somebody cleared it
    bool is_cleared = false;
};

/// By the group's table, without the counters that the performance management does not have. Both are payloads of the group.
std::vector<group_change> changes_of(const counter_group&, const comad::iba::ClassPortInfo&,
                                     std::span<const comad::u8> before, std::span<const comad::u8> after);

/// A line for each: `PortVLXmitWait[3]:...............1000 (+400.0/s)`.
std::string changes_text(const std::vector<group_change>&, double seconds);
/// By name: `state`, `value`, `per_second`.
nlohmann::ordered_json changes_json(const std::vector<group_change>&, double seconds);

/// All changes of one group together, over readings in a row.
class group_change_totals {
public:
    void add(const std::vector<group_change>&, double seconds);
    std::string text() const;
    /// By name: `value`, `per_second`, `exact`.
    nlohmann::ordered_json json() const;

private:
    std::map<std::string, group_change> sums_;
    double seconds_ = 0;
};

} // namespace ibtool
