// SPDX-License-Identifier: MIT
// ibswportwatch_text.cpp - formats the changes of a port's counters.
#include "text/ibswportwatch_text.hpp"

#include "comad.hpp"
#include "text/dotted_lines.hpp"
#include "text/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>

namespace ibtool {

using counters::counter;
using counters::for_each_counter;
using change_state = counters::counter_change::state;

namespace {

bool is_new(const counters::counter_change& c) {
    return c.what != change_state::unknown && !(c.what == change_state::counted && c.value == 0);
}

/// Calls a function for each counter that changed. With `above`, only if it changed by more than this number per second.
template <class F>
void for_each_change(const counters::sample& before, const counters::sample& after, const error_thresholds* above,
                     F&& f) {
    for_each_counter([&](counter c) {
        const counters::counter_change what = change_of(c, before, after);
        if (!is_new(what)) return;
        const double rate = rate_of(c, what, after.at - before.at);
        if (above && ((*above)[c] == 0 || rate <= static_cast<double>((*above)[c]))) return;
        f(c, what, rate);
    });
}

std::string format_rate(counter c, double rate) { return fmt::format("{:.1f}{}", rate, is_data(c) ? " B/s" : "/s"); }

/// Adds the value in bytes for counters of data, as in the lines of a sweep.
void add_bytes(nlohmann::ordered_json& to, counter c, u64 number) {
    if (!is_data(c)) return;
    if (number <= ~u64{0} / 4) to["bytes"] = 4 * number;
    else to["bytes"] = 4.0 * static_cast<double>(number);
}

std::string_view remark(change_state s) {
    switch (s) {
    case change_state::wrapped: return ", wrapped";
    case change_state::saturated: return " or more: it is saturated";
    case change_state::reset: return " or more: it was cleared";
    case change_state::counted:
    case change_state::unknown: break;
    }
    return "";
}

} // namespace

std::string format_counters(const counters::counter_values& values, counters::counter_set which) {
    dotted_lines lines;
    for_each_counter([&](counter c) {
        if (values.has(c) && which.has(c)) lines.number(label_of(c), values[c]);
    });
    return lines.take();
}

std::string format_changes(const counters::sample& before, const counters::sample& after,
                           const error_thresholds* above) {
    dotted_lines lines;
    for_each_change(before, after, above, [&](counter c, const counters::counter_change& what, double rate) {
        lines.text(label_of(c), fmt::format("{} (+{}{})", after.counters[c], format_rate(c, rate), remark(what.what)));
    });
    return lines.take();
}

nlohmann::ordered_json counters_json(const counters::counter_values& values, counters::counter_set which) {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for_each_counter([&](counter c) {
        if (values.has(c) && which.has(c)) all[std::string(name_of(c))] = values[c];
    });
    return all;
}

nlohmann::ordered_json changes_json(const counters::sample& before, const counters::sample& after,
                                    const error_thresholds* above) {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for_each_change(before, after, above, [&](counter c, const counters::counter_change& what, double rate) {
        nlohmann::ordered_json& one =
            all[std::string(name_of(c))] = {{"state", name_of(what.what)}, {"value", what.value}};
        add_bytes(one, c, what.value);
        one["per_second"] = rate;
    });
    return all;
}

void change_totals::add(const counters::sample& before, const counters::sample& after) {
    time_ += after.at - before.at;
    for_each_counter([&](counter c) {
        const counters::counter_change what = change_of(c, before, after);
        if (!is_new(what)) return;
        sums_[static_cast<unsigned>(c)] += what.value;
        is_more_[static_cast<unsigned>(c)] |= !what.is_exact();
    });
}

std::string change_totals::text() const {
    dotted_lines lines;
    for_each_counter([&](counter c) {
        const auto i = static_cast<unsigned>(c);
        if (sums_[i] == 0 && !is_more_[i]) return;
        const double rate = rate_of(c, {change_state::counted, sums_[i]}, time_);
        lines.text(label_of(c),
                   fmt::format("+{} ({}{})", sums_[i], format_rate(c, rate), is_more_[i] ? " or more" : ""));
    });
    return lines.take();
}

nlohmann::ordered_json change_totals::json() const {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for_each_counter([&](counter c) {
        const auto i = static_cast<unsigned>(c);
        if (sums_[i] == 0 && !is_more_[i]) return;
        nlohmann::ordered_json& one = all[std::string(name_of(c))] = {{"value", sums_[i]}};
        add_bytes(one, c, sums_[i]);
        one["per_second"] = rate_of(c, {change_state::counted, sums_[i]}, time_);
        one["exact"] = !is_more_[i];
    });
    return all;
}

} // namespace ibtool
