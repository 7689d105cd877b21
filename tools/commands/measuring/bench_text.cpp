// SPDX-License-Identifier: MIT
// bench_text.cpp - numbers as text: times in microseconds, rates per second.
#include "commands/measuring/bench_text.hpp"

#include "comad.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

namespace ibtool {
namespace {

struct column {
    const char* name;
    double percent;
};
constexpr column percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"max", 100}};

double in_us(mad::duration time) { return static_cast<double>(time.count()) / 1e3; }
/// `200ms`, `1.5s`
std::string as_time(mad::duration time) {
    const double us = in_us(time);
    if (us < 1e3) return fmt::format("{:.4g}us", us);
    return us < 1e6 ? fmt::format("{:.4g}ms", us / 1e3) : fmt::format("{:.4g}s", us / 1e6);
}

std::string targets_text(const load& what) {
    if (what.targets.size() == 1) return mad::spec_string(without_keys(what.targets.front()));
    return fmt::format("{} targets", what.targets.size());
}

std::string heading(const bench_report& r) {
    std::string text = fmt::format("# {} {} to {} on {}\n", r.rpc, r.attribute->info->name, targets_text(r.what),
                                   iba::escaped(r.fabric));
    const std::string length = r.how_long.mads ? fmt::format("{} MADs", r.how_long.mads) : as_time(r.how_long.length);
    text += fmt::format("# {} interleaved rounds of {} per window, each after {} of warm-up; timeout {}, {} retries\n",
                        r.rounds, length, as_time(r.how_long.warm_up), as_time(r.patience.timeout), r.patience.retries);
    if (r.what.per_destination) text += fmt::format("# at most {} in flight to each target\n", r.what.per_destination);
    if (!r.lowered.empty()) text += fmt::format("# larger windows were reduced: {}\n", r.lowered);
    if (r.is_virtual) text += "# times are in virtual time\n";
    return text + "# +-: half of the 95 % confidence interval of MADs/s; round-trip times in us, without lost MADs\n";
}

std::string row_text(const bench_row& row) {
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

std::string row_json(const bench_row& row) {
    const tally& t = row.measured;
    std::string rate = "null", interval = "null", times = "null";
    if (!t.rates.empty()) {
        const estimate e = estimate_of(t.rates);
        rate = fmt::format("{}", e.mean);
        if (e.half_width) interval = fmt::format("{}", *e.half_width);
    }
    if (t.times.count()) {
        times.clear();
        for (const column& c : percentiles)
            times += fmt::format("{}\"{}\":{}", times.empty() ? "{" : ",", c.name,
                                 mad::in_seconds(t.times.percentile(c.percent)));
        times += '}';
    }
    return fmt::format(R"({{"window":{},"MADs_per_second":{},"confidence_95":{},"rates":[{}],)"
                       R"("round_trip_seconds":{},)"
                       R"("replies":{},"retries":{},"timeouts":{},"errors":{}}})",
                       row.max_outstanding ? row.window : iba::json_quoted(row.window), rate, interval,
                       fmt::join(t.rates, ","), times, t.replies, t.retries, t.timeouts, t.errors);
}

} // namespace

std::string bench_table(const bench_report& r) {
    std::string text = heading(r) + fmt::format("#{:>7} {:>11} {:>9}", "window", "MADs/s", "+-");
    for (const column& c : percentiles) text += fmt::format(" {:>10}", c.name);
    text += fmt::format(" {:>10} {:>7} {:>8} {:>7}\n", "replies", "retries", "timeouts", "errors");
    for (const bench_row& row : r.rows) text += row_text(row);
    return text;
}

std::string bench_json(const bench_report& r) {
    std::string rows, problems;
    for (const bench_row& row : r.rows) rows += (rows.empty() ? "" : ",") + row_json(row);
    for (const std::string& line : format_missing(r.problems, true))
        problems += (problems.empty() ? "" : ",") + iba::json_quoted(line);
    const std::string target =
        r.what.targets.size() == 1 ? iba::json_quoted(mad::spec_string(without_keys(r.what.targets.front()))) : "null";
    return fmt::format(
        R"({{"schema":"comad.bench/1","complete":{},"fabric":{},"time":"{}","rpc":"{}","attribute":"{}",)"
        R"("attributeModifier":{},"targets":{},"target":{},"per_destination":{},"rounds":{},)"
        R"("duration_seconds":{},"count":{},"warm_up_seconds":{},"timeout_seconds":{},"max_retries":{},)"
        R"("lowered":{},"rows":[{}],"problems":[{}]}})"
        "\n",
        r.problems.empty(), iba::json_quoted(r.fabric), r.is_virtual ? "virtual" : "real", r.rpc,
        r.attribute->info->name, r.what.attributeModifier, r.what.targets.size(), target, r.what.per_destination,
        r.rounds, r.how_long.mads ? "null" : fmt::format("{}", mad::in_seconds(r.how_long.length)),
        r.how_long.mads ? fmt::format("{}", r.how_long.mads) : "null", mad::in_seconds(r.how_long.warm_up),
        mad::in_seconds(r.patience.timeout), r.patience.retries,
        r.lowered.empty() ? "null" : iba::json_quoted(r.lowered), rows, problems);
}

} // namespace ibtool
