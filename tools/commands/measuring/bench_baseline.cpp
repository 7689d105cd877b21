// SPDX-License-Identifier: MIT
// bench_baseline.cpp - reads the JSON of an earlier run of bench, and compares each row.
#include "commands/measuring/bench_baseline.hpp"

#include "comad.hpp"
#include "input/options.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace ibtool {
namespace {

/// What must be equal in comparable runs.
struct measured_load {
    std::string rpc, attribute;
    u64 modifier, targets;
    std::string target; ///< path, if there is only one target
    std::vector<std::string> payloads;
    std::string time, arrivals; ///< arrivals: empty for a closed load
};

std::string text_of(const measured_load& m) {
    const bool has_data =
        std::ranges::any_of(m.payloads, [](const std::string& data) { return data.size() > 2; }); // after 0x
    return fmt::format("{} {} with attribute modifier {}{} to {} in {} time{}", m.rpc, m.attribute, m.modifier,
                       has_data ? fmt::format(" and data {}", fmt::join(m.payloads, ", ")) : "",
                       m.targets == 1 ? m.target : fmt::format("{} targets", m.targets), m.time,
                       m.arrivals.empty() ? "" : fmt::format(" with {} arrivals", m.arrivals));
}

std::string text_in(const nlohmann::json& all, const char* member) {
    return all.contains(member) && !all.at(member).is_null() ? all.at(member).get<std::string>() : std::string();
}

std::vector<double> numbers_in(const nlohmann::json& row, const char* member) {
    return row.contains(member) ? row.at(member).get<std::vector<double>>() : std::vector<double>();
}

/// Returns the name of a row: its rate, or else its window.
std::string load_in(const nlohmann::json& row) {
    const bool is_open = row.contains("rate") && !row.at("rate").is_null();
    const nlohmann::json& load = row.at(is_open ? "rate" : "window");
    return load.is_string() ? load.get<std::string>() : rate_label(load.get<double>());
}

bench_baseline baseline_in(const nlohmann::json& all, const std::string& file) {
    bench_baseline b;
    b.file = file;
    b.what = text_of({all.at("rpc").get<std::string>(), all.at("attribute").get<std::string>(),
                      all.at("attributeModifier").get<u64>(), all.at("targets").get<u64>(), text_in(all, "target"),
                      all.at("payloads").get<std::vector<std::string>>(), all.at("time").get<std::string>(),
                      text_in(all, "arrivals")});
    for (const nlohmann::json& row : all.at("rows"))
        b.rows.push_back(
            {load_in(row), numbers_in(row, "rates"), numbers_in(row, "p50_seconds"), numbers_in(row, "p99_seconds")});
    return b;
}

const bench_baseline::row* row_of(const bench_baseline& b, const std::string& load) {
    const auto found = std::ranges::find(b.rows, load, &bench_baseline::row::load);
    return found == b.rows.end() ? nullptr : &*found;
}

/// Whether larger values are better.
enum class preference : u8 { large, small };

void compare_metric(bench_comparison& c, const std::string& load, const char* name, const char* unit,
                    const std::vector<double>& before, const std::vector<double>& now, preference better) {
    if (before.empty() || now.empty()) return;
    compared_metric m;
    m.load = load;
    m.name = name;
    m.unit = unit;
    m.before = median_of(before);
    m.now = median_of(now);
    m.before_interval = median_interval(before);
    m.now_interval = median_interval(now);
    m.p_value = mann_whitney(before, now);
    if (m.p_value <= significance && std::abs(m.change()) > c.tolerance)
        m.result =
            (m.now > m.before) == (better == preference::large) ? comparison_result::better : comparison_result::worse;
    c.metrics.push_back(std::move(m));
}

} // namespace

bench_baseline read_baseline(const std::string& file) {
    std::istringstream in = iba::open_text_file(file);
    const nlohmann::json all = nlohmann::json::parse(in, nullptr, false);
    const std::string wanted = fmt::format("{} is not the output of bench --json", iba::escaped(file));
    if (!all.is_object() || all.value("schema", nlohmann::json()) != "comad.bench/1") throw std::runtime_error(wanted);
    try {
        return baseline_in(all, file);
    } catch (const nlohmann::json::exception&) {
        throw std::runtime_error(wanted + ": a member is missing or has the wrong type");
    }
}

void check_comparable(const bench_baseline& b, const bench_report& r) {
    const std::string file = iba::escaped(b.file);
    const rpc_names names = names_of_load(r);
    const std::size_t targets = r.what.targets.size();
    const std::string now = text_of({names.rpc, names.attribute, r.what.rpcs.front().attributeModifier, targets,
                                     targets == 1 ? path_of(r, 0) : std::string(), payloads_of(r),
                                     r.is_virtual ? "virtual" : "real", arrivals_text(r)});
    if (b.what != now)
        throw usage_error(fmt::format("cannot compare with {}: it measured {}, but this run measures {}", file,
                                      iba::escaped(b.what), now));
    bool is_found = false;
    for (const bench_row& row : r.rows) {
        const bench_baseline::row* const before = row_of(b, row.load);
        if (!before) continue;
        is_found = true;
        if (least_p_value(before->rates.size(), r.rounds) > significance)
            throw usage_error(
                fmt::format("cannot compare with {}: {} rounds and {} rounds are too few for a significant "
                            "difference; 4 rounds in both runs are enough",
                            file, before->rates.size(), r.rounds));
    }
    if (!is_found)
        throw usage_error(
            fmt::format("cannot compare with {}: it measured other {}", file, r.is_open() ? "rates" : "windows"));
}

comparison_result bench_comparison::result() const noexcept {
    const auto has = [&](comparison_result v) {
        return std::ranges::any_of(metrics, [&](const compared_metric& m) { return m.result == v; });
    };
    if (has(comparison_result::worse)) return comparison_result::worse;
    return has(comparison_result::better) ? comparison_result::better : comparison_result::same;
}

bench_comparison compare(const bench_baseline& b, const bench_report& r, double tolerance) {
    bench_comparison c;
    c.file = b.file;
    c.tolerance = tolerance;
    for (const bench_row& row : r.rows) {
        const bench_baseline::row* const before = row_of(b, row.load);
        if (!before) {
            c.missing.push_back(row.load);
            continue;
        }
        compare_metric(c, row.load, "MADs/s", "1/s", before->rates, row.measured.rates, preference::large);
        compare_metric(c, row.load, "p50", "s", before->p50, row.measured.p50, preference::small);
        compare_metric(c, row.load, "p99", "s", before->p99, row.measured.p99, preference::small);
    }
    return c;
}

const char* word_of(comparison_result v) noexcept {
    switch (v) {
    case comparison_result::same: return "same";
    case comparison_result::better: return "better";
    case comparison_result::worse: return "worse";
    }
    return "";
}

} // namespace ibtool
