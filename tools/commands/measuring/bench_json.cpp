// SPDX-License-Identifier: MIT
// bench_json.cpp - formats the results of bench as JSON and CSV: times in seconds, rates per second.
#include "comad.hpp"
#include "commands/measuring/bench_text.hpp"
#include "text/json.hpp"
#include <comad/iba/detail/csv.hpp>
#include <comad/mad/path_text.hpp>

#include <fmt/format.h>

#include <utility>

namespace ibtool {
namespace {

using nlohmann::ordered_json;

ordered_json percentiles_json(const mad::latency_histogram& times) {
    ordered_json all;
    if (times.count() == 0) return all;
    for (const auto& [name, percent] :
         {std::pair{"p50", 50.0}, {"p90", 90.0}, {"p99", 99.0}, {"p99.9", 99.9}, {"max", 100.0}})
        all[name] = json_number(mad::in_seconds(times.percentile(percent)));
    return all;
}
ordered_json times_json(const responses& r) {
    ordered_json all = percentiles_json(r.times);
    if (r.replies) all["mean"] = json_number(r.mean());
    return all;
}
ordered_json numbers_json(const std::vector<double>& numbers) {
    ordered_json all = ordered_json::array();
    for (const double number : numbers) all.push_back(json_number(number));
    return all;
}
ordered_json rate_json(const responses& r, double seconds) {
    ordered_json rate;
    if (seconds > 0) rate = json_number(static_cast<double>(r.replies) / seconds);
    return rate;
}

/// Adds the responses of a target or an RPC to an object with its name.
ordered_json part_json(ordered_json named, const responses& r, double seconds) {
    named["MADs_per_second"] = rate_json(r, seconds);
    named["mean_seconds"] = json_number(r.mean_of_all());
    named["round_trip_seconds"] = times_json(r);
    named["replies"] = r.replies;
    named["timeouts"] = r.timeouts;
    named["errors"] = r.errors;
    return named;
}

ordered_json targets_json(const bench_report& r, const tally& t) {
    ordered_json all = ordered_json::array();
    for (const std::size_t i : slowest_first(t.targets))
        all.push_back(part_json({{"target", json_string(path_of(r, i))}, {"name", json_string(r.target_names[i])}},
                                t.targets[i], t.seconds));
    return all;
}
ordered_json rpcs_json(const bench_report& r, const tally& t) {
    ordered_json all = ordered_json::array();
    for (std::size_t i = 0; i < t.rpcs.size(); ++i)
        all.push_back(part_json({{"rpc", r.rpcs[i].rpc},
                                 {"attribute", r.rpcs[i].attribute},
                                 {"attributeModifier", r.what.rpcs[i].attributeModifier},
                                 {"weight", r.what.rpcs[i].weight}},
                                t.rpcs[i], t.seconds));
    return all;
}

ordered_json row_json(const bench_report& r, const bench_row& row) {
    const tally& t = row.measured;
    ordered_json mean, interval, window, offered, cpu, calls, records;
    if (!t.rates.empty()) {
        const estimate e = estimate_of(t.rates);
        mean = json_number(e.mean);
        if (e.half_width) interval = json_number(*e.half_width);
    }
    if (row.max_outstanding) window = row.max_outstanding;
    else window = "adaptive";
    if (r.is_open()) offered = json_number(row.rate);
    if (!r.is_virtual) {
        cpu = json_number(t.cost.cpu_seconds);
        calls = t.cost.system_calls;
    }
    if (t.all.content.records) records = t.all.content.records;
    return {{"window", std::move(window)},
            {"MADs_per_second", std::move(mean)},
            {"confidence_95", std::move(interval)},
            {"rates", numbers_json(t.rates)},
            {"round_trip_seconds", times_json(t.all)},
            {"replies", t.all.replies},
            {"retries", t.retries},
            {"timeouts", t.all.timeouts},
            {"errors", t.all.errors},
            {"rate", std::move(offered)},
            {"unsent", t.unsent},
            {"since_sent_seconds", percentiles_json(t.since_sent)},
            {"measured_seconds", json_number(t.seconds)},
            {"p50_seconds", numbers_json(t.p50)},
            {"p99_seconds", numbers_json(t.p99)},
            {"cpu_seconds", std::move(cpu)},
            {"system_calls", std::move(calls)},
            {"reply_bytes", t.all.content.bytes},
            {"reply_records", std::move(records)},
            {"targets", targets_json(r, t)},
            {"rpcs", rpcs_json(r, t)}};
}

ordered_json interval_json(const std::optional<value_interval>& interval) {
    if (!interval) return nullptr;
    return ordered_json::array({json_number(interval->low), json_number(interval->high)});
}

ordered_json comparison_json(const std::optional<bench_comparison>& c) {
    if (!c) return nullptr;
    ordered_json metrics = ordered_json::array(), missing = ordered_json::array();
    for (const compared_metric& m : c->metrics)
        metrics.push_back({{"load", m.load},
                           {"metric", m.name},
                           {"unit", m.unit},
                           {"baseline", json_number(m.before)},
                           {"baseline_confidence_95", interval_json(m.before_interval)},
                           {"now", json_number(m.now)},
                           {"now_confidence_95", interval_json(m.now_interval)},
                           {"change", json_number(m.change())},
                           {"p_value", json_number(m.p_value)},
                           {"result", word_of(m.result)}});
    for (const std::string& load : c->missing) missing.push_back(load);
    return {{"file", json_string(c->file)},
            {"tolerance", json_number(c->tolerance)},
            {"result", word_of(c->result())},
            {"metrics", std::move(metrics)},
            {"not_in_baseline", std::move(missing)}};
}

/// Returns the CSV line of one target, or of all targets of a row. `last`: the columns that only the line of all targets has.
std::string csv_line(const bench_row& row, const std::string& path, const std::string& name, const responses& all,
                     bool is_open, std::string_view last) {
    const auto seconds = [](double value) { return fmt::format("{:.9f}", value); };
    const auto percentile = [&](double percent) {
        return all.replies ? seconds(mad::in_seconds(all.times.percentile(percent))) : std::string();
    };
    const double measured = row.measured.seconds;
    return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       row.max_outstanding ? std::to_string(row.max_outstanding) : "adaptive",
                       is_open ? rate_label(row.rate) : "", comad::iba::csv_text(path), comad::iba::csv_text(name),
                       measured > 0 ? fmt::format("{:.3f}", static_cast<double>(all.replies) / measured) : "",
                       seconds(all.mean_of_all()), percentile(50), percentile(90), percentile(99), percentile(99.9),
                       percentile(100), all.replies, all.timeouts, all.errors, last);
}

} // namespace

std::string bench_json(const bench_report& r, const std::optional<bench_comparison>& comparison) {
    ordered_json rows = ordered_json::array(), problems = ordered_json::array(), rpcs = ordered_json::array();
    for (const bench_row& row : r.rows) rows.push_back(row_json(r, row));
    for (const std::string& line : format_missing(r.problems, true)) problems.push_back(json_string(line));
    ordered_json target, length, count, lowered, arrivals;
    if (r.what.targets.size() == 1) target = json_string(path_of(r, 0));
    if (r.how_long.mads) count = r.how_long.mads;
    else length = json_number(mad::in_seconds(r.how_long.length));
    if (!r.lowered.empty()) lowered = json_string(r.lowered);
    if (r.is_open()) arrivals = arrivals_text(r);
    const rpc_names names = names_of_load(r);
    return json_line({{"schema", "comad.bench/1"},
                      {"complete", r.problems.empty()},
                      {"fabric", json_string(r.fabric)},
                      {"time", r.is_virtual ? "virtual" : "real"},
                      {"rpc", names.rpc},
                      {"attribute", names.attribute},
                      {"attributeModifier", r.what.rpcs.front().attributeModifier},
                      {"payloads", payloads_of(r)},
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
                      {"arrivals", std::move(arrivals)},
                      {"threads", r.threads},
                      {"rows", std::move(rows)},
                      {"baseline", comparison_json(comparison)},
                      {"problems", std::move(problems)}});
}

std::string bench_csv(const bench_report& r) {
    std::string text = "window,rate,target,name,MADs_per_second,mean_seconds,p50_seconds,p90_seconds,p99_seconds,"
                       "p99.9_seconds,max_seconds,replies,timeouts,errors,retries,unsent\n";
    for (const bench_row& row : r.rows) {
        const tally& t = row.measured;
        const bool is_one = r.what.targets.size() == 1;
        text += csv_line(row, is_one ? path_of(r, 0) : "all", is_one ? r.target_names.front() : "all targets", t.all,
                         r.is_open(), fmt::format("{},{}", t.retries, t.unsent));
        for (const std::size_t i : slowest_first(t.targets))
            text += csv_line(row, path_of(r, i), r.target_names[i], t.targets[i], r.is_open(), ",");
    }
    return text;
}

} // namespace ibtool
