// SPDX-License-Identifier: MIT
// ibswportwatch_groups.cpp - computes differences of counters. Counters of performance management stop at their largest value, which
// counters of 64 bits never reach (IBA 16.1.4).
#include "text/ibswportwatch_groups.hpp"

#include "comad.hpp"
#include "input/error_thresholds.hpp"
#include "text/dotted_lines.hpp"
#include <comad/counters/port_counters.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace ibtool {

namespace {

double per_second(u64 counted, double seconds) { return seconds > 0 ? static_cast<double>(counted) / seconds : 0; }

std::string_view remark(const group_change& c) {
    if (!c.is_more) return "";
    return c.is_cleared ? " or more: it was cleared" : " or more: it is saturated";
}

/// Returns the name of the state, as for the default counters.
std::string_view state_name(const group_change& c) {
    using state = comad::counters::counter_change::state;
    return name_of(c.is_cleared ? state::reset : c.is_more ? state::saturated : state::counted);
}

} // namespace

std::vector<group_change> changes_of(const counter_group& g, const comad::iba::ClassPortInfo& info,
                                     std::span<const u8> before, std::span<const u8> after) {
    std::vector<group_change> all;
    const std::vector<group_counter> was = counters_in(g, info, before), is = counters_in(g, info, after);
    for (std::size_t i = 0; i < is.size(); ++i) {
        const bool is_cleared = is[i].value < was[i].value;
        const bool is_at_end = is[i].value == is[i].highest;
        const u64 counted = is_cleared ? is[i].value : is[i].value - was[i].value;
        if (counted == 0 && !is_cleared) continue;
        all.push_back({is[i].name, is[i].value, counted, is_cleared || is_at_end, is_cleared});
    }
    return all;
}

std::string format_changes(const std::vector<group_change>& changes, double seconds) {
    dotted_lines lines;
    for (const group_change& c : changes)
        lines.text(label_of(c.name), fmt::format("{} (+{:.1f}/s{})", c.now, per_second(c.counted, seconds), remark(c)));
    return lines.take();
}

nlohmann::ordered_json changes_json(const std::vector<group_change>& changes, double seconds) {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (const group_change& c : changes)
        all[c.name] = {{"state", state_name(c)}, {"value", c.counted}, {"per_second", per_second(c.counted, seconds)}};
    return all;
}

void group_change_totals::add(const std::vector<group_change>& changes, double seconds) {
    seconds_ += seconds;
    for (const group_change& c : changes) {
        group_change& sum = sums_.try_emplace(c.name, group_change{c.name}).first->second;
        sum.counted += c.counted;
        sum.is_more |= c.is_more;
    }
}

std::string group_change_totals::text() const {
    dotted_lines lines;
    for (const auto& [name, sum] : sums_)
        lines.text(label_of(name), fmt::format("+{} ({:.1f}/s{})", sum.counted, per_second(sum.counted, seconds_),
                                               sum.is_more ? " or more" : ""));
    return lines.take();
}

nlohmann::ordered_json group_change_totals::json() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (const auto& [name, sum] : sums_)
        all[name] = {
            {"value", sum.counted}, {"per_second", per_second(sum.counted, seconds_)}, {"exact", !sum.is_more}};
    return all;
}

} // namespace ibtool
