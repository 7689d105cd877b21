// SPDX-License-Identifier: MIT
// sweep.cpp - sweep: the counters of all ports of the subnet, once or again and again.
#include "command.hpp"
#include "session/exporter.hpp"
#include "session/reopening.hpp"
#include "session/subnet_command.hpp"
#include "session/sweeping.hpp"
#include "text/output.hpp"
#include <comad/discovery/node_words.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fnmatch.h>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace counters = comad::counters;
using comad::u64;

enum class form : comad::u8 { table, json, csv, screen, none };

struct sweep_settings {
    std::string every, refresh = "60s", refresh_by = "smp", name_map, by, listen, file;
    u64 count = 0;
    std::vector<std::string> GUIDs, patterns, types, details, resets;
    std::size_t top = 0;
    bool json = false, csv = false, watch = false, on_scrape = false;
};

/// What the command line says, understood.
struct watch_plan {
    sweep_plan sweeps;
    table_choice choice;
    form as = form::table;
    discovery::node_names names;
    std::string listen, file;
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

sweep_plan make_sweep_plan(const sweep_settings& s) {
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
    p.wants = [wanted = std::move(wanted), names = read_node_names(s.name_map)](const discovery::node& n) {
        return wanted(n, names);
    };
    return p;
}

form read_form(const sweep_settings& s) {
    if (s.json) return form::json;
    if (s.csv) return form::csv;
    if (s.watch && !::isatty(STDOUT_FILENO)) throw usage_error("--watch: the output is no terminal");
    if (s.watch) return form::screen;
    return s.listen.empty() && s.file.empty() ? form::table : form::none;
}

watch_plan make_watch_plan(const sweep_settings& s) {
    watch_plan p{make_sweep_plan(s), {}, read_form(s), read_node_names(s.name_map), s.listen, s.file};
    if (s.top || !s.by.empty() || s.watch) {
        p.choice.top = s.top;
        p.choice.order = row_order::by_counter;
        p.choice.by = s.by.empty() ? counters::counter::portXmitData : read_counter("--by", s.by);
    }
    return p;
}

/// Replaces the file at once: who reads it gets all of the old or all of the new.
void replace_file(const std::string& text, const std::string& file) {
    const std::string next = file + ".new";
    write_output(text, next);
    if (std::rename(next.c_str(), file.c_str()) != 0)
        throw std::runtime_error(fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

/// Of the one that the output goes to; zeros: it is no terminal.
winsize terminal_size() {
    winsize size{};
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
}

process_cost cost_so_far() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    std::size_t pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return {seconds(used.ru_utime) + seconds(used.ru_stime),
            resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
}

/// Where sweeps go.
class outlets {
public:
    explicit outlets(const watch_plan& p) : plan_(p) {}

    /// `on_scrape`: as the exporter's.
    void open(std::function<void(std::size_t)> on_scrape) {
        if (!plan_.listen.empty()) {
            server_.emplace(plan_.listen, 3 * *plan_.sweeps.every, std::move(on_scrape));
            fmt::print(stderr, "ibtool: listening at http://{}/metrics\n", server_->address());
        }
    }

    void write(const sweep_view& v, const sweep_totals& totals) {
        if (plan_.as == form::csv && v.number == 1) write_output(sweep_csv_header());
        switch (plan_.as) {
        case form::json: write_output(sweep_json(v, plan_.choice)); break;
        case form::csv: write_output(sweep_csv(v, plan_.choice)); break;
        case form::table: write_output(table(v)); break;
        case form::screen: write_output(screen(v)); break;
        case form::none: break;
        }
        if (plan_.file.empty() && !server_) return;
        std::string text = exposition(v, totals, cost_so_far());
        if (!plan_.file.empty()) replace_file(text, plan_.file);
        if (server_) server_->publish(std::move(text), sweep_state_json(v));
    }

    void note_change(const std::string& why) {
        if (plan_.as == form::json) write_output(fmt::format("{{\"discovered_again\":{}}}\n", iba::json_quoted(why)));
        else if (plan_.as != form::screen) fmt::print(stderr, "ibtool: discovered again: {}\n", why);
    }

    void note_lost(const outage& now) {
        if (plan_.as == form::json)
            write_output(fmt::format(R"({{"lost":{},"why":{}}})"
                                     "\n",
                                     iba::json_quoted(now.device), iba::json_quoted(now.cause)));
        note_still_lost(now);
    }
    void note_still_lost(const outage& now) {
        if (server_) server_->note_lost(fmt::format("{}: {}", now.device, now.cause));
    }
    void note_back(const outage& over, u64 missed) {
        if (plan_.as == form::json)
            write_output(fmt::format(R"({{"opened_again":{},"lost_seconds":{:.3f},"missed_sweeps":{}}})"
                                     "\n",
                                     iba::json_quoted(over.device), comad::mad::in_seconds(over.length), missed));
        if (server_) server_->note_back();
    }

private:
    std::string table(const sweep_view& v) {
        table_choice fitting = plan_.choice;
        fitting.columns = terminal_size().ws_col;
        return sweep_table(v, fitting);
    }
    std::string screen(const sweep_view& v) {
        const winsize size = terminal_size();
        table_choice fitting = plan_.choice;
        fitting.columns = size.ws_col;
        const std::size_t rows = size.ws_row > 3 ? size.ws_row - 3u : 21u; // two lines above, one below
        if (fitting.top == 0 || fitting.top > rows) fitting.top = rows;
        return on_screen(sweep_table(v, fitting));
    }

    const watch_plan& plan_;
    std::optional<exporter> server_;
};

/// The exit code. Several sweeps go on when their device was lost and is back; one alone has failed.
int run_to_end(session& in, const sweep_plan& plan, sweeping& all, outlets& out) {
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
    if (p.sweeps.on_request && run_in.is_virtual())
        throw usage_error("--on-scrape: the time of this fabric is simulated");
    outlets out(p);
    const sweep_listener listener{
        [&](const sweep_view& v, const sweep_totals& totals) { out.write(v, totals); },
        [&](const std::string& why) { out.note_change(why); },
        [](const std::string& line) { fmt::print(stderr, "ibtool: {}\n", line); },
    };
    sweeping all(run_in, p.sweeps, p.names, listener);
    const auto on_scrape = [&](std::size_t known) { run_in.post([&all, known] { all.request(known); }); };
    out.open(p.sweeps.on_request ? on_scrape : std::function<void(std::size_t)>{});
    const int code = run_to_end(run_in, p.sweeps, all, out);
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
            takes.option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
            const argument& json = takes.flag("--json", s->json, "one JSON object per line");
            const argument& csv =
                takes.flag("--csv", s->csv, "comma-separated values, one line per port").excludes(json);
            takes.flag("--watch", s->watch, "show the first ports by --by, continuously").excludes(json).excludes(csv);
            const argument& listen =
                takes.option("--listen", s->listen, "serve /metrics to Prometheus, and /health, at ADDR:PORT");
            takes.flag("--on-scrape", s->on_scrape, "sweep only when scraped").needs(listen);
            takes.option("--prometheus", s->file, "write the metrics to this file after each sweep");
            return [s](const global_options& options) { return run_sweep(*s, options); };
        }};
}

} // namespace ibtool
