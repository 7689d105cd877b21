// SPDX-License-Identifier: MIT
// bench_baseline.hpp - compares the rounds of a run of bench with those of an earlier run, which its JSON contains. Measures nothing.
#pragma once
#include "commands/measuring/bench_report.hpp"
#include "commands/measuring/statistics.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// The rounds of an earlier run.
struct bench_baseline {
    struct row {
        std::string load; ///< as bench_row::load
        std::vector<double> rates, p50, p99;
    };
    std::string file;
    std::string what; ///< a text that is equal for comparable runs
    std::vector<row> rows;
};

/// Reads the output of `bench --json`.
/// Errors: std::runtime_error with one line if the file cannot be read, or does not contain this output.
bench_baseline read_baseline(const std::string& file);

/// Throws usage_error if the runs cannot be compared: they measure different RPCs, numbers of targets, kinds of time, windows or rates, or
/// they have so few rounds that no difference can be significant.
void check_comparable(const bench_baseline&, const bench_report&);

/// Whether a result differs from the baseline.
enum class comparison_result : comad::u8 { same, better, worse };

/// One quantity of a row in both runs.
struct compared_metric {
    std::string load;           ///< as bench_row::load
    std::string name;           ///< `MADs/s`, `p50`, `p99`
    std::string unit;           ///< `1/s`, `s`
    double before = 0, now = 0; ///< medians of the rounds
    std::optional<value_interval> before_interval, now_interval;
    double p_value = 1;
    comparison_result result = comparison_result::same;

    /// Returns the change of the median as a share; 0 if the baseline is 0.
    double change() const noexcept { return before > 0 ? now / before - 1 : 0; }
};

/// A run in comparison with a baseline.
struct bench_comparison {
    std::string file;
    double tolerance = 0; ///< as a share
    std::vector<compared_metric> metrics;
    std::vector<std::string> missing; ///< rows of this run that the baseline does not have

    /// Returns worse if any metric is, else better if any is.
    comparison_result result() const noexcept;
};

/// The largest p-value of a significant difference.
inline constexpr double significance = 0.05;

/// Compares the medians of the rounds. A metric is better or worse if the difference is significant (Mann-Whitney U test) and larger than
/// `tolerance`.
bench_comparison compare(const bench_baseline&, const bench_report&, double tolerance);

/// Returns `same`, `better` or `worse`.
const char* word_of(comparison_result) noexcept;

} // namespace ibtool
