// SPDX-License-Identifier: MIT
// formats.hpp - counters and sweeps as text for other programs: JSON, CSV, and Prometheus' text format. Opens no files and sends nothing.
//
//     const discovery::node_names names; // every node has its description as its name
//     counters::sweeper sweeper(schedule, subnet);
//     const counters::sweep first = co_await sweeper.run();
//     co_await schedule.pause(1s);
//     const counters::sweep second = co_await sweeper.run();
//     const counters::sweep_view view{.subnet = subnet, .names = names, .now = second, .before = &first, .number = 2, .seconds = 1};
//     fmt::print("{}", sweep_json(view));
//     fmt::print("{}{}", counters::sweep_csv_header(), sweep_csv(view));
//     fmt::print("{}", counters::prometheus_text({{view, {.sweeps = 2, .mads = first.mads + second.mads}}}));
//
// Counters are the totals that ports report, as decimal numbers. Data counters have the unit of the IBA, words of 4 bytes, and in addition
// a value in bytes, which is rounded to the precision of a double if it does not fit into 64 bits. JSON numbers can be larger than 2^53, so
// a parser that reads every number as a double rounds them.
//
// Names of nodes come from the network and can contain any bytes. Each format escapes them so that they cannot end a value or a line.
//
// Preconditions of all functions that take a sweep_view: `now` and `before` are sweeps of its subnet by one sweeper, or `before` is the
// result of align_to().
// Errors:   none.
// Lifetime: results own their data. A sweep_view refers to its members, which must outlive the call.
// Threads:  any, if no other thread changes the arguments meanwhile.
#pragma once
#include <comad/coro/detail/generator.hpp>
#include <comad/counters/health.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery/compare/known_fabric.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comad::counters {

/// Returns a JSON object with the counters that were read, in the order of `counter`: `{"portXmitData":1000,"portRcvData":2000}`. Names are
/// those of the IBA, values are numbers in the unit of the counter.
std::string counters_json(const counter_values&);

/// The sweep of an earlier run with which a sweep is compared, and what happened to ports in between.
struct earlier_sweep {
    std::string file;                ///< the name of its file
    u64 number = 0;                  ///< in the file
    double unix_time = 0;            ///< calendar time of its start, in seconds since 1970
    double seconds = 0;              ///< between the starts of both sweeps
    std::size_t new_ports = 0;       ///< ports that only the later sweep contains
    std::size_t gone_ports = 0;      ///< ports of the earlier sweep that do not exist any more
    std::size_t cleared_ports = 0;   ///< ports with counters that were cleared
    std::size_t restarted_ports = 0; ///< ports whose counters all started again from 0
};

/// A sweep, its subnet, and the sweep before it.
struct sweep_view {
    const discovery::subnet& subnet;
    const discovery::node_names& names;
    const sweep& now;
    const sweep* before = nullptr; ///< null: there is none, so there are no changes and rates
    u64 number = 1;                ///< how many sweeps there were, including this one
    double seconds = 0;            ///< time of its start since the start of the first one
    double unix_time = -1; ///< calendar time of its start, in seconds since 1970; less than 0: unknown, or virtual time
    std::shared_ptr<const void> kept =
        {}; ///< owner of all data except `before`, for code that keeps the view longer than the call
    const earlier_sweep* since = nullptr; ///< null: `before` is of the same run
};

// ---- JSON and CSV ----------------------------------------------------------------------------------------------------

/// The order of rows.
enum class row_order : u8 {
    of_subnet,  ///< the order of the subnet
    by_counter, ///< by the rate of one counter, without `before` by its value; the largest first
    by_errors,  ///< by the sum of all error counters, or by how much they grew; the largest first
    /// By the larger utilization of the two directions (link_use); without `before` by the time that the link needed for all its data.
    by_utilization,
    by_congestion, ///< by congestion (link_use); without `before` by the total time that the port waited
};

/// Selects and sorts the ports of a sweep. The default selects all ports.
struct row_selection {
    std::size_t top = 0; ///< number of rows; 0: all
    row_order order = row_order::of_subnet;
    counter by{};               ///< for by_counter
    std::string part_of_name{}; ///< only nodes whose name contains this text, ignoring ASCII case; empty: all
};

/// Returns the sweep as JSON Lines with the schema `comad.sweep/1` (docs/schema/sweep-1.json): an object for the sweep, one for each
/// selected port that was read, and one for each failure. Each line ends with a line feed.
///
/// The line of a port has its `counters` as counters_json() writes them, data counters also in `bytes`, and in `pegged` the names of
/// saturated counters. With `before` it has `changes`: counters that changed, with the increase and the rate per second, for data in bytes
/// per second, and `utilization` and `congestion` as shares (link_use). `details` contains the structures of reading::details as iba::json() writes them: numbers wider than 32 bits are hexadecimal
/// strings there. Text is ASCII: other characters are escaped as `\uNNNN`, and a byte that is not UTF-8 is written as the character U+00NN.
std::string sweep_json(const sweep_view&, const row_selection& = {});

/// Returns the first line of a CSV file: `sweep,seconds,nodeGUID,description,port`, the names of all counters, and of the data counters
/// with the suffix `_bytes`, state, width, speed and data rate of the link, utilization and congestion, and the counters of `details`
/// such as `PortRcvErrorDetails.portLoopingErrors`. Later versions can add columns at the end.
std::string sweep_csv_header(port_detail_set details = {});
/// Returns a line of CSV (RFC 4180, but with line feeds) for each selected port that was read. The column of a counter is empty if the
/// counter was not read. `details`: as for the header.
///
/// The name of a node is quoted. Quotes in it are doubled, and control characters and bytes that are not UTF-8 are written as `\xNN`. If a
/// spreadsheet could read the name as a formula because of its first character (`=`, `+`, `-` or `@`), the name starts with an apostrophe.
std::string sweep_csv(const sweep_view&, const row_selection& = {}, port_detail_set details = {});

// ---- Prometheus ------------------------------------------------------------------------------------------------------

/// The counts of all sweeps of a run.
struct sweep_totals {
    u64 sweeps = 0;
    u64 skipped = 0; ///< due while another one was running, or while the device was disconnected
    u64 mads = 0;
};

/// The resources that the program uses.
struct process_cost {
    double cpu_seconds = 0;
    std::size_t resident_bytes = 0;
};

/// Selects the series about ports on a page of metrics. docs/reference/metrics.md describes each choice.
enum class metric_choice : u8 {
    all,     ///< every counter and state of every port
    changed, ///< only counters and states that have changed since the first sweep
    errors,  ///< only error counters above 0
};

/// What has changed about a port since the first sweep; see metric_choice::changed.
struct changed_port {
    counter_set counters;
    bool link = false; ///< state, width or speed
};

/// The data of one fabric on a page of metrics.
struct exposed_sweep {
    sweep_view view; ///< `before` is not used
    sweep_totals totals = {};
    std::string fabric = {}; ///< value of the label `fabric` of all its series; empty: no such label
    /// Findings of the health rules between this sweep and the one before; nullopt: there are no rules, or it was the first sweep.
    std::optional<std::vector<health_finding>> findings = {};
    /// The known parts of the fabric that are missing (known_fabric::missing()); null: only what was found is known.
    std::shared_ptr<const discovery::missing_parts> missing = {};
    metric_choice metrics = metric_choice::all;
    /// For metric_choice::changed: what has changed, in the order of the ports of the sweep; null: nothing.
    std::shared_ptr<const std::vector<changed_port>> changed = {};
    /// Use of the links since the sweep before, as uses_of() returns it; null: no series of it.
    std::shared_ptr<const std::vector<link_use>> uses = {};
    /// The attributes whose counters have series, if the sweep has read them.
    port_detail_set details = port_detail_set::all();
};

/// A device that carries the sweeps of one fabric.
struct exposed_device {
    std::string fabric; ///< as in exposed_sweep
    bool is_up = true;  ///< false: it is disconnected, or was not ready yet
};

/// Returns a page of metrics in Prometheus' text format 0.0.4 (content type `text/plain; version=0.0.4`), with the series that
/// docs/reference/metrics.md lists. Series of counters and states have only the labels `node_guid` and `port`, which do not change with
/// cables, LIDs and names. `infiniband_port_info` has the names, and series of problems contain the names themselves. Data is in bytes;
/// Prometheus calculates rates from the totals.
///
/// In labels, control characters and bytes that are not UTF-8 are written as `\xNN`. Then quotes and backslashes are escaped with a
/// backslash. `sweeps`: one sweep for each fabric. `process`: nullopt: no series of the process. `devices`: empty: no series of devices.
std::string prometheus_text(std::vector<exposed_sweep> sweeps, std::optional<process_cost> process = {},
                            std::vector<exposed_device> devices = {});

/// Returns the same page in pieces of about 64 KiB, so that other work can run between them: the page of a large subnet has a million
/// lines.
///
///     auto pieces = counters::prometheus_pieces(sweeps);
///     while (const std::string* piece = pieces.next()) send(*piece);
///
/// Lifetime: the views must refer to valid data until the last piece was returned; sweep_view::kept can own that data.
coro::generator<std::string> prometheus_pieces(std::vector<exposed_sweep> sweeps,
                                               std::optional<process_cost> process = {},
                                               std::vector<exposed_device> devices = {});

} // namespace comad::counters
