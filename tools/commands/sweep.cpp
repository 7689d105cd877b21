// SPDX-License-Identifier: MIT
// sweep.cpp - sweep: the counters of all ports of the subnet, once or again and again.
#include "command.hpp"
#include "commands/sweep_outlets.hpp"
#include "exporter/authorization.hpp"
#include "session/keyboard.hpp"
#include "session/reopening.hpp"
#include "session/subnet_command.hpp"
#include "session/sweeping.hpp"
#include "text/output.hpp"
#include <comad/discovery/node_words.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fnmatch.h>
#include <memory>
#include <optional>
#include <unistd.h>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace counters = comad::counters;
using comad::u64;

struct sweep_settings {
    std::string every, refresh = "60s", refresh_by = "smp", name_map, by, listen, auth_file, file;
    u64 count = 0;
    std::vector<std::string> GUIDs, patterns, types, details, resets;
    std::size_t top = 0;
    bool json = false, csv = false, watch = false, on_scrape = false;
};

/// What the command line says, understood.
struct watch_plan {
    sweep_plan sweeps;
    discovery::node_names names;
    outlet_plan out;
};

/// Which nodes; an empty list: whatever they are.
struct node_filter {
    std::vector<iba::guid> GUIDs;
    std::vector<std::string> patterns;
    std::vector<iba::NodeType> types;

    bool operator()(const discovery::node& n, const discovery::node_names& names) const {
        const auto has = [](const auto& list, const auto& value) {
            return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
        };
        const std::string name = names.of(n);
        const bool fits = patterns.empty() || std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) {
                              return ::fnmatch(p.c_str(), name.c_str(), 0) == 0;
                          });
        return fits && has(GUIDs, n.info.nodeGUID) && has(types, n.info.nodeType);
    }
};

counters::counter read_counter(const std::string& option, const std::string& name) {
    if (const auto c = counters::counter_named(name)) return *c;
    throw usage_error(fmt::format("{}: there is no counter '{}'; they are {}", option, iba::escaped(name),
                                  fmt::join(counters::counter_names(), ", ")));
}

iba::guid read_wanted_GUID(const std::string& text) {
    const auto GUID = iba::parse_guid(text);
    if (!GUID) throw usage_error(fmt::format("--guid: '{}' is no GUID", iba::escaped(text)));
    return *GUID;
}

/// What --reset names.
counters::counter_set read_counter_set(const std::vector<std::string>& names) {
    counters::counter_set all;
    for (const std::string& name : names) {
        const bool errors = name == "all" || name == "errors", others = name == "all" || name == "data";
        if (!errors && !others) {
            all.add(read_counter("--reset", name));
            continue;
        }
        counters::for_each_counter([&](counters::counter c) {
            if (is_error(c) ? errors : others) all.add(c);
        });
    }
    return all;
}

unsigned read_detail(const std::string& name) {
    const auto& names = detail_names;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<unsigned>(found - names.begin());
    throw usage_error(
        fmt::format("--details: there is no group '{}'; they are {}", iba::escaped(name), fmt::join(names, ", ")));
}

sweep_plan make_sweep_plan(const sweep_settings& s, const discovery::node_names& names) {
    using namespace std::chrono_literals;
    sweep_plan p;
    p.count = s.count;
    p.on_request = s.on_scrape;
    if (!s.every.empty()) p.every = parse_duration(s.every);
    else if (!s.listen.empty()) p.every = 15s; // as Prometheus scrapes by default in its documentation
    else if (s.watch) p.every = 1s;
    else if (p.count == 0) p.count = 1;
    if (p.every && p.every->count() <= 0) throw usage_error("--every: there has to be some time between sweeps");
    if (s.refresh != "never") p.refresh = parse_duration(s.refresh);
    p.refresh_by = s.refresh_by == "sa" ? change_source::SA : change_source::SMPs;
    p.clears = read_counter_set(s.resets);
    for (const std::string& name : s.details) p.details.add(read_detail(name));
    node_filter wanted{{}, s.patterns, {}};
    for (const std::string& text : s.GUIDs) wanted.GUIDs.push_back(read_wanted_GUID(text));
    for (const std::string& name : s.types) wanted.types.push_back(discovery::node_type_named(name));
    p.wants = [wanted = std::move(wanted), names](const discovery::node& n) { return wanted(n, names); };
    return p;
}

sweep_form read_form(const sweep_settings& s) {
    if (s.json) return sweep_form::json;
    if (s.csv) return sweep_form::csv;
    if (s.watch && !::isatty(STDOUT_FILENO)) throw usage_error("--watch: the output is no terminal");
    if (s.watch) return sweep_form::screen;
    return s.listen.empty() && s.file.empty() ? sweep_form::table : sweep_form::none;
}

watch_plan make_watch_plan(const sweep_settings& s) {
    discovery::node_names names = read_node_names(s.name_map);
    watch_plan p{make_sweep_plan(s, names), std::move(names), {}};
    outlet_plan& out = p.out;
    out.form = read_form(s);
    out.file = s.file;
    out.listen = s.listen;
    if (!s.auth_file.empty()) out.authorizations = read_authorizations(s.auth_file);
    if (p.sweeps.every) out.oldest = 3 * *p.sweeps.every;
    out.keeps_trying = p.sweeps.is_lasting();
    if (s.top || !s.by.empty() || s.watch) {
        out.choice.top = s.top;
        out.choice.order = row_order::by_counter;
        out.choice.by = s.by.empty() ? counters::counter::portXmitData : read_counter("--by", s.by);
    }
    return p;
}

/// The exit code. Several sweeps go on when their device was lost and is back; one alone has failed.
int run_to_end(session& in, const sweep_plan& plan, sweeping& all, sweep_outlets& out) {
    if (!plan.is_lasting()) return in.run(all.run()).value_or(failed);
    outage_listener listener;
    listener.on_lost = [&](const outage& now) { out.note_lost(now); };
    listener.on_retry = [&](const outage& now) { out.note_still_lost(now); };
    listener.on_back = [&](const outage& over) {
        const u64 missed = all.resume();
        out.note_back(over, missed);
        return fmt::format("missed {} sweep{}", missed, missed == 1 ? "" : "s");
    };
    return lasting(in, listener).run<int>([&] { return all.run(); }).value_or(partial);
}

int run_sweep(const sweep_settings& s, const global_options& options) {
    const watch_plan p = make_watch_plan(s);
    session run_in(options);
    if (!p.out.listen.empty() && run_in.is_virtual())
        throw usage_error("--listen: the time of this fabric is simulated");
    sweep_outlets out(p.out);
    const sweep_listener listener{
        [&](const sweep_view& v, const sweep_totals& totals) { out.write(v, totals); },
        [&](const std::string& why) { out.note_change(why); },
        [&](const std::string& line) { out.note_problem(line); },
    };
    sweeping all(run_in, p.sweeps, p.names, listener);
    const auto on_scrape = [&](std::size_t known) { run_in.post([&all, known] { all.request(known); }); };
    out.open(run_in.executor(), p.sweeps.on_request ? on_scrape : std::function<void(std::size_t)>{});
    std::optional<keyboard> keys;
    if (out.has_screen() && !run_in.is_virtual()) {
        const auto on_key = [&](char key) {
            if (out.press(key)) all.end();
        };
        keys.emplace(run_in.executor(), on_key, [&] { out.show(); });
    }
    int code = run_to_end(run_in, p.sweeps, all, out);
    keys.reset();
    out.leave_screen();
    if (code == complete && !out.is_complete()) code = partial;
    return finish(run_in, code);
}

} // namespace

command sweep_command() {
    return {
        .name = "sweep",
        .group = command_group::counters,
        .summary = "read the counters of all ports, once or periodically",
        .examples =
            "sweep\nsweep --every 1s --count 10 --top 20 --by portXmitWait\nsweep --type switch --name 'leaf*' --json",
        .no_SA = "it asks PMAs",
        .writes = true,
        .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<sweep_settings>();
            takes.option("--every", s->every, "interval between sweeps: 1s, 500ms");
            takes.option("-c,--count", s->count, "number of sweeps [1; with --every: until a signal]");
            takes.option("--refresh", s->refresh, "how often to check the subnet for changes, or never [60s]");
            takes.option("--refresh-by", s->refresh_by, "how to check for changes [smp]").one_of({"smp", "sa"});
            takes.option("--details", s->details,
                         "additional counter attributes by name, in JSON: PortRcvErrorDetails");
            takes.option("--reset", s->resets, "clear after reading: errors, data, all, or a counter by name");
            takes.option("--guid", s->GUIDs, "only nodes with these node GUIDs");
            takes.option("--name", s->patterns, "only nodes whose description matches: 'leaf*'");
            takes.option("--type", s->types, "only nodes of that type").one_of({"switch", "ca", "router"});
            takes.option("--top", s->top, "only the first ports by --by");
            takes.option("--by", s->by, "the counter to sort ports by [portXmitData]");
            add_name_map_option(takes, s->name_map);
            const argument& json = takes.flag("--json", s->json, "one JSON object per line");
            const argument& csv =
                takes.flag("--csv", s->csv, "comma-separated values, one line per port").excludes(json);
            takes.flag("--watch", s->watch, "show the first ports by --by, continuously").excludes(json).excludes(csv);
            const argument& listen = takes.option("--listen", s->listen,
                                                  "serve /metrics to Prometheus, and /health: ADDR:PORT, :PORT for "
                                                  "this machine alone, unix:PATH, systemd");
            takes.option("--auth", s->auth_file, "who may: file of lines bearer TOKEN or basic USER:PASSWORD")
                .needs(listen);
            takes.flag("--on-scrape", s->on_scrape, "sweep only when scraped").needs(listen);
            takes.option("--prometheus", s->file, "write the metrics to this file after each sweep");
            return [s](const global_options& options) { return run_sweep(*s, options); };
        }};
}

} // namespace ibtool
