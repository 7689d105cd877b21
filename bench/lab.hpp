// SPDX-License-Identifier: MIT
// lab.hpp - the common part of the laboratory's experiments: settings, tables as text and JSON, and one discovery of a simulated subnet
// in virtual time. Does not depend on particular experiments.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/sim/fabric.hpp>

#include <nlohmann/json.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comad::bench {

/// The options of all experiments.
struct settings {
    coro::schedule_options schedule;
    std::optional<transports::kernel_options> kernel; ///< kernel between the program and the subnet, in virtual time
    unsigned seeds = 5;                               ///< number of runs of every experiment that involves chance
    bool is_small = false;                            ///< uses small subnets, for a quick test
    double million_mads = 10;                         ///< length of the endurance run
};

/// The values of several runs.
class spread {
public:
    void add(double value) { values_.push_back(value); }
    double median() const;
    double least() const;
    double most() const;

private:
    std::vector<double> values_;
};

/// A cell of a table: a text for people and a value for programs.
struct cell {
    std::string text;
    nlohmann::ordered_json value;

    cell(std::string shown) : text(shown), value(std::move(shown)) {}
    cell(const char* shown) : cell(std::string(shown)) {}
    cell(std::integral auto number) : text(std::to_string(number)), value(number) {}
    cell(double number);
    /// Shows the median, and the smallest and largest value: `17.5 (17.1..18)`; only the median if all values are equal.
    cell(const spread&);
};

/// The result of an experiment.
class table {
public:
    table(std::string title, std::vector<std::string> columns)
        : title_(std::move(title)), columns_(std::move(columns)) {}
    /// Adds a row. The number of cells must be the number of columns.
    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
    /// Adds a line below the rows.
    void note(std::string name, cell value) { notes_.emplace_back(std::move(name), std::move(value)); }
    void print() const;
    nlohmann::ordered_json json() const;

private:
    std::string title_;
    std::vector<std::string> columns_;
    std::vector<std::vector<cell>> rows_;
    std::vector<std::pair<std::string, cell>> notes_;
};

/// Returns a duration in milliseconds.
inline double in_ms(mad::duration d) { return static_cast<double>(d.count()) / 1e6; }

/// Returns a timing in which every MAD has this round-trip time and no other delays.
transports::sim::timing equal_round_trips(mad::duration round_trip);

/// The result of one discovery.
struct discovered {
    bool is_complete; ///< whether all nodes and links were found without a failure
    mad::duration time;
    u64 mads;       ///< MADs sent, including retries
    u64 overflowed; ///< MADs and replies that full buffers dropped
};
/// Runs one discovery from the default node in virtual time.
discovered discover_once(const transports::sim::topology&, const transports::sim::timing&,
                         const transports::sim::faults&, const settings&);

} // namespace comad::bench
