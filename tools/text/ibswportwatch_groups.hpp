// SPDX-License-Identifier: MIT
// ibswportwatch_groups.hpp - compares two samples of any performance attribute, and formats the changes as lines and as JSON. Does not read
// a clock.
#pragma once
#include "text/counter_groups.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace ibtool {

/// A counter that has changed.
struct group_change {
    std::string name;       ///< `portVLXmitWait[3]`
    comad::u64 now = 0;     ///< the present value
    comad::u64 counted = 0; ///< the increase; a lower bound if `is_more`
    bool is_more = false;   ///< the counter is saturated, or was cleared
    bool is_cleared = false;
};

/// Returns the changes, without counters that the PMA does not support. Both arguments are payloads of the group.
std::vector<group_change> changes_of(const counter_group&, const comad::iba::ClassPortInfo&,
                                     std::span<const comad::u8> before, std::span<const comad::u8> after);

/// Returns a line for each change: `PortVLXmitWait[3]:...............1000 (+400.0/s)`.
std::string format_changes(const std::vector<group_change>&, double seconds);
/// Returns by name: `state`, `value`, `per_second`.
nlohmann::ordered_json changes_json(const std::vector<group_change>&, double seconds);

/// The sums of the changes of one group over consecutive samples.
class group_change_totals {
public:
    void add(const std::vector<group_change>&, double seconds);
    std::string text() const;
    /// Returns by name: `value`, `per_second`, `exact`.
    nlohmann::ordered_json json() const;

private:
    std::map<std::string, group_change> sums_;
    double seconds_ = 0;
};

} // namespace ibtool
