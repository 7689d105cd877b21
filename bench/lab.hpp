// SPDX-License-Identifier: MIT
// lab.hpp - what the experiments of the laboratory share: settings, tables as text and JSON, one discovery of a simulated
// subnet in virtual time. Knows no experiment.
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

struct settings {
    coro::schedule_options schedule;
    std::optional<transports::kernel_options> kernel; ///< between the program and the subnet, where time is virtual
    unsigned seeds = 5;                               ///< runs of everything that chance has a part in
    bool is_small = false;                            ///< small subnets, to see that it works
    double million_mads = 10;                         ///< of the endurance run
};

/// Values of several runs.
class spread {
public:
    void add(double value) { values_.push_back(value); }
    double median() const;
    double least() const;
    double most() const;

private:
    std::vector<double> values_;
};

/// What stands in a table: as people read it, and as programs do.
struct cell {
    std::string text;
    nlohmann::ordered_json value;

    cell(std::string said) : text(said), value(std::move(said)) {}
    cell(const char* said) : cell(std::string(said)) {}
    cell(std::integral auto number) : text(std::to_string(number)), value(number) {}
    cell(double number);
    /// The median, and between which values: `17.5 (17.1..18)`; of equal ones only that.
    cell(const spread&);
};

/// What an experiment tells.
class table {
public:
    table(std::string title, std::vector<std::string> columns)
        : title_(std::move(title)), columns_(std::move(columns)) {}
    /// As many cells as columns.
    void add(std::vector<cell> row) { rows_.push_back(std::move(row)); }
    /// A line below the rows.
    void note(std::string name, cell value) { notes_.emplace_back(std::move(name), std::move(value)); }
    void print() const;
    nlohmann::ordered_json json() const;

private:
    std::string title_;
    std::vector<std::string> columns_;
    std::vector<std::vector<cell>> rows_;
    std::vector<std::pair<std::string, cell>> notes_;
};

inline double in_ms(mad::duration d) { return static_cast<double>(d.count()) / 1e6; }

/// Every MAD takes this long there and back, and nothing more.
transports::sim::timing equal_round_trips(mad::duration round_trip);

struct discovered {
    bool is_complete; ///< all nodes and links that are there, and no failure
    mad::duration time;
    u64 mads;       ///< sent, repetitions included
    u64 overflowed; ///< of them and their replies, at full buffers
};
/// One discovery from the default node, in virtual time.
discovered discover_once(const transports::sim::topology&, const transports::sim::timing&,
                         const transports::sim::faults&, const settings&);

} // namespace comad::bench
