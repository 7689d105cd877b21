// SPDX-License-Identifier: MIT
// bench_text.cpp - formats the results of bench as tables: times in microseconds, rates per second.
#include "commands/measuring/bench_text.hpp"

#include "comad.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>

#include <algorithm>
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
    std::string text =
        fmt::format("# {} to {} on {}\n", text_of(names_of_load(r)), format_targets(r.what), iba::escaped(r.fabric));
    const std::string length = r.how_long.mads ? fmt::format("{} MADs", r.how_long.mads) : as_time(r.how_long.length);
    text += fmt::format("# {} interleaved rounds of {} per {}, each after {} of warm-up; timeout {}, {} retries\n",
                        r.rounds, length, r.is_open() ? "rate" : "window", as_time(r.how_long.warm_up),
                        as_time(r.patience.timeout), r.patience.retries);
    if (r.is_open())
        text += fmt::format("# open load: {} arrivals, at most {} in flight; times from the intended time of sending\n",
                            r.arrivals == arrival_process::poisson ? "Poisson" : "constant",
                            r.rows.front().max_outstanding);
    if (r.threads > 1) text += fmt::format("# {} threads\n", r.threads);
    if (r.what.per_destination) text += fmt::format("# at most {} in flight to each target\n", r.what.per_destination);
    if (!r.lowered.empty()) text += fmt::format("# larger windows were reduced: {}\n", r.lowered);
    if (r.is_virtual) text += "# times are in virtual time\n";
    else text += "# CPU and calls: processor time in us, and system calls, of this program per MAD\n";
    return text + "# +-: half of the 95 % confidence interval of MADs/s; round-trip times in us, without lost MADs\n";
}

/// Returns a percentile, or `-` if no reply arrived.
std::string percentile_us(const responses& all, double percent) {
    return all.replies ? fmt::format("{:.3f}", in_us(all.times.percentile(percent))) : "-";
}
std::string rate_text(const responses& all, double seconds) {
    return seconds > 0 ? fmt::format("{:.0f}", static_cast<double>(all.replies) / seconds) : "-";
}

std::string format_row(const bench_report& r, const bench_row& row) {
    const tally& t = row.measured;
    std::string text = fmt::format("{:>8}", row.load);
    if (t.rates.empty()) {
        text += fmt::format(" {:>11} {:>9}", "-", "-");
    } else {
        const estimate rate = estimate_of(t.rates);
        text +=
            fmt::format(" {:>11.0f} {:>9}", rate.mean, rate.half_width ? fmt::format("{:.0f}", *rate.half_width) : "-");
    }
    for (const column& c : percentiles) text += fmt::format(" {:>10}", percentile_us(t.all, c.percent));
    text += fmt::format(" {:>10} {:>7} {:>8} {:>7}", t.all.replies, t.retries, t.all.timeouts, t.all.errors);
    if (r.is_open()) text += fmt::format(" {:>8}", t.unsent);
    if (r.is_virtual) return text + '\n';
    const auto ended = static_cast<double>(t.all.ended());
    if (t.all.ended() == 0) return text + fmt::format(" {:>7} {:>7}\n", "-", "-");
    return text + fmt::format(" {:>7.3f} {:>7.2f}\n", 1e6 * t.cost.cpu_seconds / ended,
                              static_cast<double>(t.cost.system_calls) / ended);
}

/// Returns a line for the responses of a target or of an RPC.
std::string format_part(const responses& all, double seconds, std::string_view name) {
    return fmt::format(" {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>7}  {}\n", rate_text(all, seconds),
                       all.mean_of_all() > 0 ? format_us(all.mean_of_all()) : "-", percentile_us(all, 50),
                       percentile_us(all, 99), percentile_us(all, 100), all.replies, all.timeouts, all.errors, name);
}
std::string part_heading(const char* name) {
    return fmt::format("#{:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8} {:>7}  {}\n", "MADs/s", "mean", "p50", "p99",
                       "max", "replies", "timeouts", "errors", name);
}

std::string rpc_table(const bench_report& r) {
    std::vector<responses> all(r.rpcs.size());
    for (const bench_row& row : r.rows)
        for (std::size_t i = 0; i < row.measured.rpcs.size(); ++i) all[i].add(row.measured.rpcs[i]);
    std::string text = fmt::format("\n\n# RPCs, all {} together\n", r.is_open() ? "rates" : "windows");
    text += part_heading("RPC");
    const double seconds = seconds_of_all_rows(r);
    for (std::size_t i = 0; i < all.size(); ++i)
        text += format_part(all[i], seconds, fmt::format("{} (weight {})", text_of(r.rpcs[i]), r.what.rpcs[i].weight));
    return text;
}

std::string target_table(const bench_report& r, std::size_t top) {
    const std::vector<responses> all = targets_of_all_rows(r);
    const std::size_t shown = top ? std::min(top, all.size()) : all.size();
    std::string text = fmt::format("\n\n# {} of {} targets, the slowest first, all {} together{}\n", shown, all.size(),
                                   r.is_open() ? "rates" : "windows", shown < all.size() ? "; --top 0 prints all" : "");
    text += part_heading("target");
    const double seconds = seconds_of_all_rows(r);
    const std::vector<std::size_t> order = slowest_first(all);
    for (std::size_t i = 0; i < shown; ++i)
        text += format_part(all[order[i]], seconds, iba::escaped(r.target_names[order[i]]));
    return text;
}

/// Returns a median with its confidence interval: `100000 [99000, 101000]`.
std::string format_median(const compared_metric& m, double median, const std::optional<value_interval>& interval) {
    const auto number = [&](double value) { return m.unit == "s" ? format_us(value) : fmt::format("{:.0f}", value); };
    if (!interval) return number(median);
    return fmt::format("{} [{}, {}]", number(median), number(interval->low), number(interval->high));
}

std::string comparison_table(const bench_report& r, const bench_comparison& c) {
    std::string text =
        fmt::format("\n\n# compared with {}: {}\n"
                    "# medians of the rounds and their 95 % confidence intervals; p: Mann-Whitney U test; "
                    "a change of at most {:.4g} % is tolerated\n",
                    iba::escaped(c.file), word_of(c.result()), 100 * c.tolerance);
    text += fmt::format("#{:>7} {:<7} {:>32} {:>32} {:>9} {:>7} {}\n", r.is_open() ? "rate" : "window", "metric",
                        "baseline", "now", "change", "p", "result");
    for (const compared_metric& m : c.metrics)
        text += fmt::format("{:>8} {:<7} {:>32} {:>32} {:>+8.1f}% {:>7.4f} {}\n", m.load, m.name,
                            format_median(m, m.before, m.before_interval), format_median(m, m.now, m.now_interval),
                            100 * m.change(), m.p_value, word_of(m.result));
    for (const std::string& load : c.missing) text += fmt::format("{:>8} not in the baseline\n", load);
    return text;
}

} // namespace

std::string format_us(double seconds) { return fmt::format("{:.3f}", 1e6 * seconds); }

std::string bench_table(const bench_report& r, std::size_t top, const std::optional<bench_comparison>& comparison) {
    std::string text = heading(r) + fmt::format("#{:>7} {:>11} {:>9}", r.is_open() ? "rate" : "window", "MADs/s", "+-");
    for (const column& c : percentiles) text += fmt::format(" {:>10}", c.name);
    text += fmt::format(" {:>10} {:>7} {:>8} {:>7}", "replies", "retries", "timeouts", "errors");
    if (r.is_open()) text += fmt::format(" {:>8}", "unsent");
    text += r.is_virtual ? "\n" : fmt::format(" {:>7} {:>7}\n", "CPU", "calls");
    for (const bench_row& row : r.rows) text += format_row(r, row);
    if (r.rpcs.size() > 1) text += rpc_table(r);
    if (r.what.targets.size() > 1) text += target_table(r, top);
    if (comparison) text += comparison_table(r, *comparison);
    return text;
}

} // namespace ibtool
