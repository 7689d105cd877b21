// SPDX-License-Identifier: MIT
// bench.cpp - bench: measures MADs per second and round-trip times for one or more window sizes, for any Get to any nodes.
#include "comad.hpp"
#include "command.hpp"
#include "commands/measuring/bench_targets.hpp"
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
#include <memory>
#include <optional>

namespace ibtool {
namespace {

using namespace std::chrono_literals;

/// The command line of bench.
struct bench_settings {
    std::vector<std::string> targets;
    target_options kind;
    target_choice discovered;
    selection_options selected;
    std::string rpc = "SubnGet", attribute = "SMPNodeInfo", windows = "1,2,4,8,16,32,64,128,256,512";
    std::vector<std::string> fields;
    u32 modifier = 0;
    std::optional<std::chrono::nanoseconds> duration, warm_up;
    comad::u64 count = 0;
    unsigned rounds = 5;
    std::optional<unsigned> per_destination;
    bool json = false;
};

bool is_sa(const request& r) { return r.kind.mgmt_class == iba::MgmtClass::SubnAdm; }
bool is_smp(const request& r) { return r.kind.mgmt_class == iba::MgmtClass::SubnLID; }

/// Returns the request. Throws usage_error if it is not a query, or if its reply has more than one MAD.
request make_query(const bench_settings& s) {
    request r = make_request(s.rpc, s.attribute, s.fields);
    if (r.kind.method != iba::Method::Get)
        throw usage_error(fmt::format("bench cannot send {}: it measures only Get RPCs, such as SubnGet", s.rpc));
    if (r.payload.size() > payload_size)
        throw usage_error(fmt::format("bench cannot send {}: it does not fit in one MAD", r.attribute->info->name));
    if (s.discovered.discovers() && !s.targets.empty())
        throw usage_error(
            "targets exclude --all, --switches, --CAs and the options that select nodes; give only one of them");
    if (s.discovered.discovers() && is_sa(r))
        throw usage_error("--all, --switches, --CAs and the selection of nodes are not supported by SubnAdmGet: it "
                          "queries only the SA");
    return r;
}

/// Returns one row for each window size in the text.
std::vector<bench_row> read_windows(const std::string& text) {
    std::vector<bench_row> rows;
    for (const std::string& word : split(text, ',')) {
        if (word == "adaptive") {
            rows.push_back({word, 0, {}});
            continue;
        }
        const u32 window = read_number(word, "a window", 65536);
        if (window == 0) throw usage_error("a window must be 1..65536 or adaptive");
        rows.push_back({std::to_string(window), window, {}});
    }
    return rows;
}

load load_of(const bench_settings& s, const request& r) {
    load what{r.kind, s.modifier, r.component_mask, {}, {}, 0};
    std::copy(r.payload.begin(), r.payload.end(), what.payload.begin());
    return what;
}

/// Returns the length of a measurement. A short measurement is enough in virtual time, which has no noise; every MAD costs processor
/// time.
extent extent_of(const bench_settings& s, bool is_virtual) {
    return {s.warm_up.value_or(is_virtual ? 5ms : 20ms), s.duration.value_or(is_virtual ? 10ms : 200ms), s.count};
}

// ---- measurement ------------------------------------------------------------------------------------------------

/// Lowers window sizes to the number of MADs that can be in flight.
void lower_windows(bench_report& r, unsigned transport_takes) {
    unsigned most = transport_takes;
    std::string why = fmt::format("the transport allows {} in flight", most);
    const std::size_t bound = r.what.targets.size() * r.what.per_destination;
    if (bound != 0 && bound < most) {
        most = static_cast<unsigned>(bound);
        why = fmt::format("at most {} in flight to each of {}, so at most {} in total", r.what.per_destination,
                          r.what.targets.size() == 1 ? "1 target" : fmt::format("{} targets", r.what.targets.size()),
                          most);
    }
    std::vector<bench_row> rows;
    for (bench_row& row : r.rows) {
        if (row.max_outstanding > most) {
            row = {std::to_string(most), most, {}};
            r.lowered = why;
        }
        if (std::ranges::find(rows, row.max_outstanding, &bench_row::max_outstanding) == rows.end())
            rows.push_back(std::move(row));
    }
    r.rows = std::move(rows);
}

/// Measures with this schedule. Returns false if the transport failed.
coro::task<bool> measure_in(coro::MADSchedule& schedule, const bench_report& r, const clock_function& clock,
                            tally& all) {
    co_await measure(schedule, r.what, r.how_long, clock, all);
    co_return !schedule.transport_failed();
}

/// Measures one window size. Returns false if the device was disconnected.
bool measure_row(session& in, bench_report& r, bench_row& row, unsigned round) {
    coro::schedule_options options = r.patience;
    options.max_outstanding = row.max_outstanding;
    // measure() limits the MADs in flight itself, so that no MAD waits in the schedule.
    options.per_destination = options.sa_outstanding = 0;
    coro::MADSchedule schedule(in.schedule().transport(), options);
    schedule.set_trace(in.trace());
    const clock_function clock = [&] { return in.is_virtual() ? schedule.now() : in.now(); };
    return in.run_on(schedule, measure_in(schedule, r, clock, row.measured),
                     [&] { return fmt::format("round {} of {}, window {}", round + 1, r.rounds, row.window); });
}

/// Measures all window sizes. Each round starts with another size, so that no size always comes first.
void measure_all(session& in, bench_report& r) {
    for (unsigned round = 0; round < r.rounds; ++round) {
        for (std::size_t turn = 0; turn < r.rows.size(); ++turn) {
            const bool goes_on = measure_row(in, r, r.rows[(round + turn) % r.rows.size()], round);
            if (goes_on && !in.stopped()) continue;
            r.problems.push_back(failure_at({}, fmt::format("{} in round {} of {}",
                                                            goes_on ? "interrupted" : "the device was disconnected",
                                                            round + 1, r.rounds)));
            return;
        }
    }
}

/// The result of a run.
struct bench_outcome {
    bench_report report;
    std::string counts;
};

/// Finds the targets, and measures all window sizes.
bench_outcome run_in_session(const bench_settings& s, const global_options& options, bench_report r,
                             const std::vector<command_target>& targets) {
    session in(options, targets.empty() ? nullptr : &targets.front());
    r.is_virtual = in.is_virtual();
    r.how_long = extent_of(s, r.is_virtual);
    std::vector<command_target> chosen = targets;
    if (chosen.empty() && r.what.kind.mgmt_class == iba::MgmtClass::SubnAdm) {
        require_sa(in);
        chosen.push_back(command_target({in.schedule().sa_path(), std::nullopt}));
    } else if (chosen.empty()) {
        chosen.push_back(this_node());
    }
    target_choice discovered = s.discovered;
    discovered.by_lid = s.kind.lid;
    const bool is_answered = in.run(find_targets(in, discovered, r, std::move(chosen)));
    if (is_answered && !in.stopped()) {
        const unsigned of_several = coro::schedule_options{}.per_destination; // the default limit of all commands
        r.what.per_destination = s.per_destination.value_or(r.what.targets.size() == 1 ? 0 : of_several);
        lower_windows(r, in.schedule().transport().limits().max_window);
        measure_all(in, r);
    }
    const std::string capture_problem = in.finish_capture();
    if (!capture_problem.empty()) r.problems.push_back(failure_at({}, capture_problem));
    return {std::move(r), in.counts()};
}

bool is_empty(const bench_row& row) { return row.measured.replies == 0; }

int run_bench(const bench_settings& s, const global_options& options) {
    const request query = make_query(s);
    if (options.by_sa && is_smp(query))
        throw usage_error(
            fmt::format("--sa is not supported by {}: it sends SMPs; use SubnAdmGet to query the SA", s.rpc));
    bench_report r;
    r.fabric = options.fabric.empty() ? "umad" : options.fabric;
    r.rpc = s.rpc;
    r.attribute = query.attribute;
    r.what = load_of(s, query);
    r.rounds = s.rounds;
    r.patience = options.schedule();
    // Early retries would distort the measurement, so all MADs have a fixed timeout.
    if (r.patience.timeout.count() == 0) r.patience.timeout = r.patience.unmeasured_timeout;
    if (r.patience.retries < 0) r.patience.retries = coro::schedule_options::usual_retries;
    r.rows = read_windows(s.windows);
    std::vector<command_target> targets;
    for (const std::string& word : s.targets) targets.push_back(read_target(word, s.kind));

    const bench_outcome o = run_in_session(s, options, std::move(r), targets);
    const auto& rows = o.report.rows;
    const bool is_measured = !std::ranges::all_of(rows, is_empty);
    if (is_measured) write_output(s.json ? bench_json(o.report) : bench_table(o.report));
    print_error(o.counts);
    print_missing(o.report.problems, options.shows_all());
    if (!is_measured) print_message("nothing was measured: no reply was received");
    if (!is_measured) return failed;
    return o.report.problems.empty() && std::ranges::none_of(rows, is_empty) ? complete : partial;
}

/// Declares an option whose value is a duration.
void add_time_option(arguments& takes, const char* name, std::optional<std::chrono::nanoseconds>& time) {
    takes.option(name, [&time](const std::string& text) { time = parse_duration(text); });
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
                takes.option("--rpc", s->rpc).shows_default();
                takes.option("--attribute", s->attribute).shows_default();
                takes.option("-f,--field", s->fields).one_each();
                takes.option("-a,--modifier", s->modifier).shows_default();
                takes.option("--windows", s->windows).shows_default();
                takes.option("--per-destination", s->per_destination).range(0, 65536);
                takes.option("--rounds", s->rounds).range(1, 10000).shows_default();
                add_time_option(takes, "--duration", s->duration);
                takes.option("-c,--count", s->count).excludes(*takes.find("--duration")).range(1, 1000000000);
                add_time_option(takes, "--warm-up", s->warm_up);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    s->discovered.selected = subnet_selection(s->selected);
                    return run_bench(*s, options);
                };
            }};
}

} // namespace ibtool
