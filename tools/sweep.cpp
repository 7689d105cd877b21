// SPDX-License-Identifier: MIT
// sweep.cpp - sweep: the counters of all ports of the subnet, once or again and again.
#include "commands.hpp"
#include "output.hpp"
#include "subnet_command.hpp"
#include "sweep_text.hpp"
#include <comad/discovery/discover.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fnmatch.h>
#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

namespace coro = comad::coro;
namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace perf = comad::perf;
using comad::u64;

enum class form : comad::u8 { table, json, csv };

struct settings {
    std::string every, name_map, by;
    u64 count = 0;
    std::vector<std::string> GUIDs, patterns, types;
    std::size_t top = 0;
    bool json = false, csv = false;
};

/// What the command line says, understood.
struct plan {
    std::optional<std::chrono::nanoseconds> every;
    u64 count; ///< 0: until a signal comes
    std::vector<iba::guid> GUIDs;
    std::vector<std::string> patterns;
    std::vector<iba::NodeType> types;
    table_choice choice;
    form as;
    discovery::node_names names;

    bool wants(const discovery::node& n) const {
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

perf::counter read_counter(const std::string& name) {
    std::vector<std::string_view> names;
    for (unsigned i = 0; i < perf::counters; ++i) {
        const auto c = static_cast<perf::counter>(i);
        if (name_of(c) == name) return c;
        names.push_back(name_of(c));
    }
    throw usage_error(
        fmt::format("--by: there is no counter '{}'; they are {}", iba::escaped(name), fmt::join(names, ", ")));
}

iba::NodeType read_type(const std::string& name) {
    if (name == "switch") return iba::NodeType::Switch;
    return name == "ca" ? iba::NodeType::CA : iba::NodeType::Router;
}

iba::guid read_GUID(const std::string& text) {
    const auto GUID = iba::parse_guid(text);
    if (!GUID) throw usage_error(fmt::format("--guid: '{}' is no GUID", iba::escaped(text)));
    return *GUID;
}

plan make_plan(const settings& s) {
    plan p{{}, s.count, {}, s.patterns, {}, {}, form::table, read_node_names(s.name_map)};
    if (!s.every.empty()) p.every = parse_duration(s.every);
    else if (p.count == 0) p.count = 1;
    for (const std::string& text : s.GUIDs) p.GUIDs.push_back(read_GUID(text));
    for (const std::string& name : s.types) p.types.push_back(read_type(name));
    if (s.top || !s.by.empty()) {
        p.choice.top = s.top;
        p.choice.order = row_order::by_counter;
        p.choice.by = s.by.empty() ? perf::counter::portXmitData : read_counter(s.by);
    }
    if (s.json) p.as = form::json;
    if (s.csv) p.as = form::csv;
    return p;
}

double in_seconds(mad::duration time) { return std::chrono::duration<double>(time).count(); }

double calendar_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Sweeps, and writes each when it is over.
class sweeping {
public:
    sweeping(session& in, const plan& p) : in_(in), plan_(p) {}

    /// The exit code.
    coro::task<int> run() {
        discovery::discover_options options;
        options.keys = &in_.options().keys;
        auto found = co_await discovery::discover(in_.schedule(), options);
        if (!found) throw std::runtime_error("the local port does not answer: " + to_string(found.error()));
        const discovery::subnet known = std::move(found).value();
        for (const auto& problem : known.problems) tell(describe(known, problem));

        perf::sweep_options how;
        how.wants = [this](const discovery::subnet& s, discovery::port_ref where) {
            return s.at(where).info.has_value() && plan_.wants(s.nodes[where.node]);
        };
        perf::sweeper sweeper(in_.schedule(), known, how);
        if (sweeper.ports() == 0) throw usage_error("no port is left to be swept");
        if (plan_.as == form::csv) write_output(sweep_csv_header());
        begin_ = in_.now();
        for (u64 number = 1;; ++number) {
            perf::sweep now = co_await sweeper.run();
            const bool is_stopped = now.is_stopped;
            write(known, now, number);
            before_ = std::move(now);
            if (is_stopped || number == plan_.count) break;
            const bool goes_on = co_await wait_for_next();
            if (!goes_on) break;
        }
        co_return is_complete_ ? complete : partial;
    }

private:
    /// Until the next full period since the beginning. False: a signal came.
    coro::task<bool> wait_for_next() {
        if (!plan_.every) co_return true;
        const mad::duration passed = in_.now() - begin_;
        const auto periods = passed / *plan_.every + 1;
        const auto skipped = periods - due_ - 1;
        if (skipped > 0) tell(fmt::format("a sweep took too long: {} left out", skipped));
        due_ = periods;
        co_return co_await in_.schedule().pause(begin_ + periods * *plan_.every - in_.now());
    }

    void write(const discovery::subnet& known, const perf::sweep& now, u64 number) {
        const double seconds = in_seconds(now.begin - begin_);
        const double calendar = in_.is_virtual() ? -1 : calendar_time() - in_seconds(in_.now() - now.begin);
        const sweep_view view{known, plan_.names, now, before_ ? &*before_ : nullptr, number, seconds, calendar};
        const auto text = plan_.as == form::json ? sweep_json : plan_.as == form::csv ? sweep_csv : sweep_table;
        write_output(text(view, plan_.choice));
        for (const perf::gap& g : now.gaps) tell(describe(known, g));
    }

    void tell(const std::string& problem) {
        is_complete_ = false;
        fmt::print(stderr, "ibtool: {}\n", problem);
    }

    session& in_;
    const plan& plan_;
    mad::time_point begin_{};
    std::chrono::nanoseconds::rep due_ = 0; // periods
    std::optional<perf::sweep> before_;
    bool is_complete_ = true;
};

int run_command(const settings& s, const global_options& options) {
    const plan p = make_plan(s);
    session run_in(options);
    sweeping all(run_in, p);
    const int code = run_in.run(all.run());
    fmt::print(stderr, "{}", run_in.counts());
    const std::string capture_problem = run_in.finish_capture();
    if (capture_problem.empty()) return code;
    fmt::print(stderr, "ibtool: {}\n", capture_problem);
    return partial;
}

} // namespace

void add_sweep(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("sweep", "read the counters of all ports, once or again and again");
    command.add_option("--every", s->every, "begin a sweep each such time: 1s, 500ms");
    command.add_option("-c,--count", s->count, "end after so many sweeps [1; with --every: at a signal]");
    command.add_option("--guid", s->GUIDs, "only nodes with such a node GUID");
    command.add_option("--name", s->patterns, "only nodes whose description is like this: 'leaf*'");
    command.add_option("--type", s->types, "only nodes of that type")->check(CLI::IsMember({"switch", "ca", "router"}));
    command.add_option("--top", s->top, "only so many ports, those with most of --by");
    command.add_option("--by", s->by, "the counter to order ports by [portXmitData]");
    command.add_option("--node-name-map", s->name_map, "file of lines 0xGUID \"name\"");
    auto* json = command.add_flag("--json", s->json, "JSON objects, one a line");
    command.add_flag("--csv", s->csv, "comma-separated values, a line for each port")->excludes(json);
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
