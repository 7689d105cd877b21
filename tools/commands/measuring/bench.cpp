// SPDX-License-Identifier: MIT
// bench.cpp - bench: measures MADs per second and round-trip times, for any RPC that does not write, with windows or at a fixed rate.
#include "comad.hpp"
#include "command.hpp"
#include "commands/measuring/bench_baseline.hpp"
#include "commands/measuring/bench_run.hpp"
#include "commands/measuring/bench_text.hpp"
#include "input/request.hpp"
#include "input/split_text.hpp"
#include "session/node_name_map.hpp"
#include "session/target.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

/// The command line of bench.
struct bench_settings {
    std::vector<std::string> targets;
    target_options kind;
    target_choice discovered;
    selection_options selected;
    std::string rpc = "SubnGet", attribute = "SMPNodeInfo", windows = "1,2,4,8,16,32,64,128,256,512";
    std::vector<std::string> fields, mix;
    u32 modifier = 0;
    bool has_windows = false;
    std::vector<double> rates;
    arrival_process process = arrival_process::constant;
    std::optional<std::chrono::nanoseconds> duration, warm_up;
    comad::u64 count = 0;
    unsigned rounds = 5, threads = 1;
    std::optional<unsigned> per_destination;
    std::string baseline, histogram;
    double tolerance = 0.05;
    u64 top = 10;
    bool json = false, csv = false;
};

/// An RPC from the command line.
struct bench_rpc {
    request query;
    rpc_names names;
    u32 modifier = 0;
    unsigned weight = 1;
};

bool is_sa(const request& r) { return r.kind.mgmt_class == iba::MgmtClass::SubnAdm; }
bool is_smp(const request& r) { return r.kind.mgmt_class == iba::MgmtClass::SubnLID; }
bool is_table(const request& r) { return mad::is_table_method(r.kind.method); }
bool is_write(const request& r) { return r.kind.method != iba::Method::Get && !is_table(r); }

/// Returns whether the options select a simulated fabric, which has no users that a write could disturb.
bool is_simulated(const global_options& o) { return o.fabric.starts_with("sim:") || o.fabric.starts_with("ibsim"); }

/// Returns an RPC. Throws usage_error if bench does not send it to this fabric.
bench_rpc make_rpc(const std::string& rpc, const std::string& attribute, const std::vector<std::string>& fields,
                   const global_options& options) {
    bench_rpc made{make_request(rpc, attribute, fields), {rpc, {}}};
    const request& r = made.query;
    made.names.attribute = r.attribute->info->name;
    if (is_write(r) && rpc != "SubnSet" && rpc != "PerformanceSet")
        throw usage_error(
            fmt::format("bench cannot send {}: of the RPCs that write, it sends only SubnSet and PerformanceSet", rpc));
    if (is_write(r) && !is_simulated(options))
        throw usage_error(fmt::format("bench cannot send {} to '{}': it writes only to simulated fabrics; use "
                                      "--fabric sim:... or ibsim",
                                      rpc, iba::escaped(selected_fabric(options))));
    if (r.payload.size() > payload_size)
        throw usage_error(fmt::format("bench cannot send {}: it does not fit in one MAD", r.attribute->info->name));
    if (options.by_sa && is_smp(r))
        throw usage_error(
            fmt::format("--sa is not supported by {}: it sends SMPs; use SubnAdmGet to query the SA", rpc));
    return made;
}

/// Reads an RPC of --mix: `3 SubnGet PortInfo 1 NAME=VALUE...`, where the weight, the modifier and the fields are optional.
bench_rpc read_mixed(const std::string& text, const global_options& options) {
    std::vector<std::string> words;
    for (const std::string& word : split(text, ' '))
        if (!word.empty()) words.push_back(word);
    const auto takes_number = [&](std::size_t at) { return words.size() > at && iba::parse_number(words[at]); };
    const bool has_weight = takes_number(0);
    const u32 weight = has_weight ? read_number(words.front(), "a weight", 1'000'000) : 1;
    if (has_weight) words.erase(words.begin());
    if (weight == 0) throw usage_error("a weight in --mix must be 1..1000000");
    if (words.size() < 2)
        throw usage_error(
            fmt::format("invalid --mix '{}'; expected an RPC and an attribute, such as '3 SubnGet PortInfo 1'",
                        iba::escaped(text)));
    const bool has_modifier = takes_number(2);
    const u32 modifier = has_modifier ? read_number(words[2], "an attribute modifier", ~u32{0}) : 0;
    const std::vector<std::string> fields(words.begin() + (has_modifier ? 3 : 2), words.end());
    bench_rpc made = make_rpc(words[0], words[1], fields, options);
    made.modifier = modifier;
    made.weight = weight;
    return made;
}

std::vector<bench_rpc> rpcs_of(const bench_settings& s, const global_options& options) {
    std::vector<bench_rpc> all;
    for (const std::string& text : s.mix) all.push_back(read_mixed(text, options));
    if (all.empty()) {
        all.push_back(make_rpc(s.rpc, s.attribute, s.fields, options));
        all.front().modifier = s.modifier;
    }
    const auto sa_count = std::ranges::count_if(all, [](const bench_rpc& rpc) { return is_sa(rpc.query); });
    if (sa_count != 0 && sa_count != std::ssize(all))
        throw usage_error("a --mix cannot contain RPCs to the SA and other RPCs: they have different targets");
    if (s.discovered.discovers() && !s.targets.empty())
        throw usage_error(
            "targets exclude --all, --switches, --CAs and the options that select nodes; give only one of them");
    if (s.discovered.discovers() && sa_count != 0)
        throw usage_error(fmt::format("--all, --switches, --CAs and the selection of nodes are not supported by {}: it "
                                      "queries only the SA",
                                      all.front().names.rpc));
    return all;
}

load_rpc load_of(const bench_rpc& rpc) {
    load_rpc made{
        rpc.query.kind, rpc.modifier, rpc.query.component_mask, {}, rpc.query.attribute->info->bytes, rpc.weight, {}};
    const std::size_t bytes = std::min(rpc.query.payload.size(), made.payload.size());
    std::copy_n(rpc.query.payload.begin(), bytes, made.payload.begin());
    return made;
}

/// Returns one row for each window size in the text.
std::vector<bench_row> read_windows(const std::string& text) {
    std::vector<bench_row> rows;
    for (const std::string& word : split(text, ',')) {
        if (word == "adaptive") {
            rows.push_back({word, 0, 0, {}});
            continue;
        }
        const u32 window = read_number(word, "a window", 65536);
        if (window == 0) throw usage_error("a window must be 1..65536 or adaptive");
        rows.push_back({std::to_string(window), window, 0, {}});
    }
    return rows;
}

/// Returns one row for each rate. The only window, if any, limits the requests in flight.
std::vector<bench_row> rows_of_rates(const bench_settings& s) {
    unsigned window = 0; // as many as the transport allows
    if (s.has_windows) {
        const std::vector<bench_row> windows = read_windows(s.windows);
        if (windows.size() != 1 || windows.front().max_outstanding == 0)
            throw usage_error("with --rate, --windows must be one number: the most requests in flight");
        window = windows.front().max_outstanding;
    }
    std::vector<bench_row> rows;
    for (const double rate : s.rates) rows.push_back({rate_label(rate), window, rate, {}});
    return rows;
}

std::vector<double> read_rates(const std::string& text) {
    std::vector<double> rates;
    for (const std::string& word : split(text, ',')) {
        double rate = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), rate);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size() || !(rate >= 0.001 && rate <= 1e7))
            throw usage_error(fmt::format("invalid rate '{}'; a rate must be 0.001..10000000 requests per second",
                                          iba::escaped(word)));
        rates.push_back(rate);
    }
    return rates;
}

double read_percent(const std::string& text) {
    double percent = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), percent);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(percent >= 0 && percent <= 1000))
        throw usage_error(fmt::format("invalid tolerance '{}'; it must be 0..1000 percent", iba::escaped(text)));
    return percent / 100;
}

/// Throws usage_error if options cannot be combined.
void check_combinations(const bench_settings& s, const global_options& options, std::size_t rows) {
    if (!s.rates.empty() && s.per_destination)
        throw usage_error("--rate excludes --per-destination: an open load is sent whether or not replies arrive");
    if (!s.histogram.empty() && rows != 1)
        throw usage_error(fmt::format("--histogram needs one window or one rate, but there are {}", rows));
    if (s.threads == 1) return;
    const std::string_view fabric = options.fabric;
    if (fabric.starts_with("sim:"))
        throw usage_error("--threads needs a umad, verbs or ibsim fabric: a simulated fabric belongs to one thread");
    if (!options.pcap.empty() || options.debug)
        throw usage_error("--threads excludes --pcap and -d, which see the MADs of one thread only");
}

bool is_empty(const bench_row& row) { return row.measured.all.replies == 0; }

int run_bench_command(const bench_settings& s, const global_options& options) {
    const std::vector<bench_rpc> rpcs = rpcs_of(s, options);
    bench_report r;
    r.fabric = selected_fabric(options);
    r.rounds = s.rounds;
    r.threads = s.threads;
    if (!s.rates.empty()) r.arrivals = s.process;
    r.patience = options.schedule();
    // Early retries would distort the measurement, so all MADs have a fixed timeout.
    if (r.patience.timeout.count() == 0) r.patience.timeout = r.patience.unmeasured_timeout;
    if (r.patience.retries < 0) r.patience.retries = coro::schedule_options::usual_retries;
    r.rows = s.rates.empty() ? read_windows(s.windows) : rows_of_rates(s);
    check_combinations(s, options, r.rows.size());
    bench_plan plan{.discovered = s.discovered,
                    .per_destination = s.per_destination,
                    .duration = s.duration,
                    .warm_up = s.warm_up,
                    .count = s.count};
    plan.discovered.by_lid = s.kind.lid;
    for (const bench_rpc& rpc : rpcs) {
        r.rpcs.push_back(rpc.names);
        r.what.rpcs.push_back(load_of(rpc));
        plan.requests.push_back(rpc.query);
    }
    for (const std::string& word : s.targets) plan.targets.push_back({read_target(word, s.kind), word});
    std::optional<bench_baseline> baseline;
    if (!s.baseline.empty()) {
        baseline = read_baseline(s.baseline);
        plan.check = [&](const bench_report& report) { check_comparable(*baseline, report); };
    }

    const std::string counts = run_bench(plan, options, r);
    const bool is_measured = !std::ranges::all_of(r.rows, is_empty);
    std::optional<bench_comparison> comparison;
    if (baseline && is_measured) comparison = compare(*baseline, r, s.tolerance);
    if (is_measured) {
        if (s.csv) write_output(bench_csv(r));
        else write_output(s.json ? bench_json(r, comparison) : bench_table(r, s.top, comparison));
        if (!s.histogram.empty()) write_output(percentile_text(r.rows.front().measured.all.times), s.histogram);
    }
    print_error(counts);
    print_missing(r.problems, options.shows_all());
    if (!is_measured) print_message("nothing was measured: no reply was received");
    if (!is_measured) return failed;
    if (!r.problems.empty() || std::ranges::any_of(r.rows, is_empty)) return partial;
    return comparison && comparison->result() == comparison_result::worse ? failed : complete;
}

/// Declares an option whose value is a duration.
void add_time_option(arguments& takes, const char* name, std::optional<std::chrono::nanoseconds>& time) {
    takes.option(name, [&time](const std::string& text) { time = parse_duration(text); });
}

/// Declares the options that select the RPCs.
void add_rpc_options(arguments& takes, bench_settings& s) {
    const argument& rpc = takes.option("--rpc", s.rpc).shows_default();
    const argument& attribute = takes.option("--attribute", s.attribute).shows_default();
    const argument& field = takes.option("-f,--field", s.fields).one_each();
    const argument& modifier = takes.option("-a,--modifier", s.modifier).shows_default();
    takes.option("--mix", s.mix).one_each().excludes(rpc).excludes(attribute).excludes(field).excludes(modifier);
}

/// Declares the options for the load and the length of the measurements.
void add_load_options(arguments& takes, bench_settings& s) {
    takes.option("--windows", [&s](const std::string& text) {
        s.windows = text;
        s.has_windows = true;
    });
    takes.option("--per-destination", s.per_destination).range(0, 65536);
    const argument& rate = takes.option("--rate", [&s](const std::string& text) { s.rates = read_rates(text); });
    takes
        .option("--arrivals",
                [&s](const std::string& text) {
                    s.process = text == "poisson" ? arrival_process::poisson : arrival_process::constant;
                })
        .one_of({"constant", "poisson"})
        .needs(rate);
    takes.option("--threads", s.threads).range(1, 256).shows_default();
    takes.option("--rounds", s.rounds).range(1, 10000).shows_default();
    add_time_option(takes, "--duration", s.duration);
    takes.option("-c,--count", s.count).excludes(*takes.find("--duration")).range(1, 1000000000);
    add_time_option(takes, "--warm-up", s.warm_up);
}

/// Declares the options for the output.
void add_output_options(arguments& takes, bench_settings& s) {
    const argument& json = takes.flag("--json", s.json);
    const argument& csv = takes.flag("--csv", s.csv).excludes(json);
    takes.option("--top", s.top).range(0, 1000000).shows_default();
    takes.option("--histogram", s.histogram).file(file_use::written);
    const argument& baseline = takes.option("--baseline", s.baseline).file(file_use::read).excludes(csv);
    takes.option("--tolerance", [&s](const std::string& text) { s.tolerance = read_percent(text); }).needs(baseline);
}

} // namespace

command bench_command() {
    return {.name = "bench", .group = command_group::measuring, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<bench_settings>();
                takes.option("target", s->targets);
                add_target_options(takes, s->kind);
                takes.flag("--all", s->discovered.all);
                takes.flag("--switches", s->discovered.switches);
                takes.flag("--CAs", s->discovered.cas);
                add_selection_options(takes, s->selected);
                add_name_map_option(takes, s->discovered.name_map);
                add_rpc_options(takes, *s);
                add_load_options(takes, *s);
                add_output_options(takes, *s);
                return [s](const global_options& options) {
                    s->discovered.selected = subnet_selection(s->selected);
                    return run_bench_command(*s, options);
                };
            }};
}

} // namespace ibtool
