// SPDX-License-Identifier: MIT
// bench_text.hpp - formats the results of bench: tables for gnuplot, JSON, CSV, and the percentiles of HdrHistogram. Measures nothing.
#pragma once
#include "commands/measuring/bench_baseline.hpp"
#include "commands/measuring/bench_report.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace ibtool {

/// Returns a table: comments after `#`, then one line for each window size or rate. Values that were not measured are `-`. Two empty lines
/// precede further tables: of RPCs if there are several, of the `top` slowest targets if there are several (0: of all), and of the
/// comparison with a baseline.
std::string bench_table(const bench_report&, std::size_t top, const std::optional<bench_comparison>& = {});
/// Returns one JSON object of schema `comad.bench/1` on one line.
std::string bench_json(const bench_report&, const std::optional<bench_comparison>& = {});
/// Returns CSV (RFC 4180, but with line feeds): a line for each row with all targets together, then a line for each target of the row if
/// there are several. Times are in seconds.
std::string bench_csv(const bench_report&);

/// Returns the distribution in HdrHistogram's text format for percentiles (outputPercentileDistribution of the Java class, with 5 ticks per
/// half distance). Times are in microseconds.
std::string percentile_text(const comad::mad::latency_histogram&);

/// Returns a time in microseconds with three decimals.
std::string format_us(double seconds);

} // namespace ibtool
