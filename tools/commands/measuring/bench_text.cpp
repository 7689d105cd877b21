// SPDX-License-Identifier: MIT
// bench_text.cpp - formats the results of bench: times in microseconds, rates per second.
#include "commands/measuring/bench_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>

#include <chrono>

namespace ibtool {
namespace {

/// A column of the table: its heading and its value in a row.
struct column {
    const char* name;
    double percent;
};
constexpr column percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"max", 100}};

double in_us(mad::duration time) { return static_cast<double>(time.count()) / 1e3; }
/// Formats a duration: `200ms`, `1.5s`.
std::string as_time(mad::duration time) {
    const double us = in_us(time);
    if (us < 1e3) return fmt::format("{:.4g}us", us);
    return us < 1e6 ? fmt::format("{:.4g}ms", us / 1e3) : fmt::format("{:.4g}s", us / 1e6);
}

std::string format_targets(const load& what) {
    if (what.targets.size() == 1) return mad::spec_string(without_keys(what.targets.front()));
    return fmt::format("{} targets", what.targets.size());
}

std::string heading(const bench_report& r) {
    std::string text = fmt::format("# {} {} to {} on {}\n", r.rpc, r.attribute->info->name, format_targets(r.what),
                                   iba::escaped(r.fabric));
    const std::string length = r.how_long.mads ? fmt::format("{} MADs", r.how_long.mads) : as_time(r.how_long.length);
    text += fmt::format("# {} interleaved rounds of {} per window, each after {} of warm-up; timeout {}, {} retries\n",
                        r.rounds, length, as_time(r.how_long.warm_up), as_time(r.patience.timeout), r.patience.retries);
    if (r.what.per_destination) text += fmt::format("# at most {} in flight to each target\n", r.what.per_destination);
    if (!r.lowered.empty()) text += fmt::format("# larger windows were reduced: {}\n", r.lowered);
    if (r.is_virtual) text += "# times are in virtual time\n";
    return text + "# +-: half of the 95 % confidence interval of MADs/s; round-trip times in us, without lost MADs\n";
}

std::string format_row(const bench_row& row) {
    const tally& t = row.measured;
    std::string text = fmt::format("{:>8}", row.window);
    if (t.rates.empty()) {
        text += fmt::format(" {:>11} {:>9}", "-", "-");
    } else {
        const estimate rate = estimate_of(t.rates);
        text +=
            fmt::format(" {:>11.0f} {:>9}", rate.mean, rate.half_width ? fmt::format("{:.0f}", *rate.half_width) : "-");
    }
    for (const column& c : percentiles)
        text +=
            fmt::format(" {:>10}", t.times.count() ? fmt::format("{:.3f}", in_us(t.times.percentile(c.percent))) : "-");
    return text + fmt::format(" {:>10} {:>7} {:>8} {:>7}\n", t.replies, t.retries, t.timeouts, t.errors);
}

nlohmann::ordered_json row_json(const bench_row& row) {
    const tally& t = row.measured;
    nlohmann::ordered_json rate, interval, times, rates = nlohmann::ordered_json::array();
    if (!t.rates.empty()) {
        const estimate e = estimate_of(t.rates);
        rate = json_number(e.mean);
        if (e.half_width) interval = json_number(*e.half_width);
    }
    for (const double r : t.rates) rates.push_back(json_number(r));
    if (t.times.count())
        for (const column& c : percentiles) times[c.name] = json_number(mad::in_seconds(t.times.percentile(c.percent)));
    nlohmann::ordered_json window;
    if (row.max_outstanding) window = row.max_outstanding;
    else window = row.window;
    return {{"window", std::move(window)},
            {"MADs_per_second", std::move(rate)},
            {"confidence_95", std::move(interval)},
            {"rates", std::move(rates)},
            {"round_trip_seconds", std::move(times)},
            {"replies", t.replies},
            {"retries", t.retries},
            {"timeouts", t.timeouts},
            {"errors", t.errors}};
}

} // namespace

std::string bench_table(const bench_report& r) {
    std::string text = heading(r) + fmt::format("#{:>7} {:>11} {:>9}", "window", "MADs/s", "+-");
    for (const column& c : percentiles) text += fmt::format(" {:>10}", c.name);
    text += fmt::format(" {:>10} {:>7} {:>8} {:>7}\n", "replies", "retries", "timeouts", "errors");
    for (const bench_row& row : r.rows) text += format_row(row);
    return text;
}

std::string bench_json(const bench_report& r) {
    auto rows = nlohmann::ordered_json::array(), problems = nlohmann::ordered_json::array();
    for (const bench_row& row : r.rows) rows.push_back(row_json(row));
    for (const std::string& line : format_missing(r.problems, true)) problems.push_back(json_string(line));
    nlohmann::ordered_json target, length, count, lowered;
    if (r.what.targets.size() == 1) target = json_string(mad::spec_string(without_keys(r.what.targets.front())));
    if (r.how_long.mads) count = r.how_long.mads;
    else length = json_number(mad::in_seconds(r.how_long.length));
    if (!r.lowered.empty()) lowered = json_string(r.lowered);
    return json_line({{"schema", "comad.bench/1"},
                      {"complete", r.problems.empty()},
                      {"fabric", json_string(r.fabric)},
                      {"time", r.is_virtual ? "virtual" : "real"},
                      {"rpc", r.rpc},
                      {"attribute", r.attribute->info->name},
                      {"attributeModifier", r.what.attributeModifier},
                      {"targets", r.what.targets.size()},
                      {"target", std::move(target)},
                      {"per_destination", r.what.per_destination},
                      {"rounds", r.rounds},
                      {"duration_seconds", std::move(length)},
                      {"count", std::move(count)},
                      {"warm_up_seconds", json_number(mad::in_seconds(r.how_long.warm_up))},
                      {"timeout_seconds", json_number(mad::in_seconds(r.patience.timeout))},
                      {"max_retries", r.patience.retries},
                      {"lowered", std::move(lowered)},
                      {"rows", std::move(rows)},
                      {"problems", std::move(problems)}});
}

} // namespace ibtool
