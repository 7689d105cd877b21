// SPDX-License-Identifier: MIT
// sweep.cpp - sweep: reads the counters of all ports of a subnet, once or periodically.
#include "comad.hpp"
#include "command.hpp"
#include "commands/counters/sweep_outputs.hpp"
#include "exporter/authorization.hpp"
#include "input/queued_writer.hpp"
#include "session/file_rereader.hpp"
#include "session/keyboard.hpp"
#include "session/node_name_map.hpp"
#include "session/reconnecting_session.hpp"
#include "session/report.hpp"
#include "session/stop_signals.hpp"
#include "session/subnet_file.hpp"
#include "session/sweep_loop.hpp"
#include "text/output.hpp"
#include <comad/counters/health.hpp>
#include <comad/iba/detail/suggest_names.hpp>
#include <comad/iba/detail/text.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

/// The command line of sweep.
struct sweep_settings {
    std::string every, refresh = "60s", refresh_by = "smp", name_map, by, listen, auth_file, file, rules, forget, since,
                       save, metrics;
    std::vector<std::string> known;
    u64 count = 0;
    std::vector<std::string> details, resets;
    selection_options selected;
    std::size_t top = 0;
    bool json = false, csv = false, watch = false, on_scrape = false;
};

/// The parsed command line.
struct sweep_run_config {
    sweep_config sweeps;
    std::string name_map, auth_file, rules;
    std::vector<std::string> known; ///< files with the expected subnets, one for each fabric
    sweep_loop::shared_names names; // replaced when the file is read again
    output_config out;
};

counters::counter read_counter(const std::string& option, const std::string& name) {
    if (const auto c = counters::counter_named(name)) return *c;
    const auto all = counters::counter_names();
    const std::vector<std::string_view> known(all.begin(), all.end());
    throw usage_error(fmt::format("{}: unknown counter {}; the nearest are {} (see 'ibtool sweep --help' for all)",
                                  option, iba::as_given(name), iba::most_similar(name, known)));
}

/// Parses the value of --reset.
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

/// Returns the index of a detail group for --details. Throws usage_error for an unknown name.
unsigned read_detail(const std::string& name) {
    const auto& names = counters::detail_names;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<unsigned>(found - names.begin());
    throw usage_error(fmt::format("--details: unknown group {}; the nearest are {} (see 'ibtool sweep --help' for all)",
                                  iba::as_given(name), iba::most_similar(name, {names.begin(), names.end()})));
}

/// Returns the order of rows that --by selects by a word other than a counter.
std::optional<counters::row_order> order_named(const std::string& name) {
    if (name == "utilization") return counters::row_order::by_utilization;
    if (name == "congestion") return counters::row_order::by_congestion;
    return std::nullopt;
}

/// Returns the plan.
sweep_config make_sweep_config(const sweep_settings& s) {
    using namespace std::chrono_literals;
    sweep_config p;
    p.count = s.count;
    p.on_request = s.on_scrape;
    const bool compares_two = order_named(s.by) && s.since.empty();
    if (!s.every.empty()) p.every = parse_duration(s.every);
    else if (!s.listen.empty()) p.every = 15s; // scrape interval in the documentation of Prometheus
    else if (s.watch) p.every = 1s;
    else if (compares_two && p.count == 0) p.every = 1s;
    else if (p.count == 0) p.count = 1;
    if (compares_two && p.count == 0 && s.every.empty() && s.listen.empty() && !s.watch) p.count = 2;
    if (compares_two && p.count == 1)
        throw usage_error(fmt::format("--by {} compares two sweeps; --count must be at least 2, or use --since", s.by));
    if (p.every && p.every->count() <= 0) throw usage_error("--every must be more than 0");
    if (s.refresh != "never") p.refresh = parse_duration(s.refresh);
    p.refresh_by = s.refresh_by == "sa" ? discovery::change_source::sa : discovery::change_source::switches;
    p.clears = read_counter_set(s.resets);
    for (const std::string& name : s.details) p.details.add(read_detail(name));
    if (!s.since.empty()) p.since = std::make_shared<const earlier_run>(s.since);
    if (s.save == "-") throw usage_error("--save: expected a file name, not '-'");
    if (!s.save.empty()) p.save = std::make_shared<sweep_saver>(s.save);
    p.selected = subnet_selection(s.selected);
    return p;
}

/// Returns the format on stdout that the options select.
sweep_form read_form(const sweep_settings& s) {
    if (s.json) return sweep_form::json;
    if (s.csv) return sweep_form::csv;
    if (s.watch && !::isatty(STDOUT_FILENO)) throw usage_error("--watch requires a terminal as output");
    if (s.watch) return sweep_form::screen;
    return s.listen.empty() && s.file.empty() ? sweep_form::table : sweep_form::none;
}

counters::metric_choice read_metrics(const std::string& word) {
    if (word == "changed") return counters::metric_choice::changed;
    return word == "errors" ? counters::metric_choice::errors : counters::metric_choice::all;
}

sweep_loop::shared_names read_names(const std::string& file) {
    return std::make_shared<const discovery::node_names>(read_node_names(file));
}

std::shared_ptr<const counters::health_rules> read_rules(const std::string& file) {
    return std::make_shared<const counters::health_rules>(counters::read_health_rules(file));
}

std::shared_ptr<const discovery::subnet> read_known(const std::string& file, const global_options& options) {
    return std::make_shared<const discovery::subnet>(read_subnet_file(file, options).found);
}

/// Returns the plan on the heap, because it contains references to itself.
std::unique_ptr<sweep_run_config> make_run_config(const sweep_settings& s) {
    auto made = std::make_unique<sweep_run_config>();
    sweep_run_config& p = *made;
    p.name_map = s.name_map;
    p.auth_file = s.auth_file;
    p.names = read_names(s.name_map);
    p.sweeps = make_sweep_config(s);
    output_config& out = p.out;
    out.form = read_form(s);
    out.file = s.file;
    out.details = p.sweeps.details; // without those that only the rules need
    out.listen = s.listen;
    out.metrics = read_metrics(s.metrics);
    if (!s.metrics.empty() && out.listen.empty() && out.file.empty())
        throw usage_error("--metrics requires --listen or --prometheus");
    p.rules = s.rules;
    if (!s.rules.empty()) {
        if (out.listen.empty() && out.file.empty()) throw usage_error("--rules requires --listen or --prometheus");
        out.rules = read_rules(s.rules);
        for (unsigned i = 0; i < counters::detail_names.size(); ++i)
            if (counters::health_details().has(i)) p.sweeps.details.add(i);
    }
    if (out.listen.empty() && out.file.empty() && !(s.known.empty() && s.forget.empty()))
        throw usage_error("--known and --forget require --listen or --prometheus");
    constexpr std::chrono::hours ten_years(24 * 3653);
    if (!s.forget.empty()) out.forget = parse_duration(s.forget, ten_years);
    p.known = s.known;
    out.wants = [&p](const discovery::node& n) { return p.sweeps.selected.wants(n, *p.names); };
    if (!s.auth_file.empty()) out.authorizations = read_authorizations(s.auth_file);
    p.sweeps.reads_ticks = p.sweeps.is_lasting() || p.sweeps.since || !out.listen.empty() || !out.file.empty();
    if (p.sweeps.every) out.oldest = 3 * *p.sweeps.every;
    out.keeps_trying = p.sweeps.is_lasting();
    if (s.top || !s.by.empty() || s.watch) {
        out.selection.top = s.top;
        out.selection.order = counters::row_order::by_counter;
        if (const auto order = order_named(s.by)) out.selection.order = *order;
        else out.selection.by = s.by.empty() ? counters::counter::portXmitData : read_counter("--by", s.by);
    }
    return made;
}

/// Runs the sweeps of one fabric.
class fabric_sweeper {
public:
    fabric_sweeper(std::size_t number, const global_options& options, const sweep_run_config& p, sweep_outputs& out,
                   boost::asio::io_context& io)
        : number_(number), options_(options), plan_(p.sweeps), out_(out),
          in_(options_, nullptr, &io, plan_.is_lasting() ? opens::when_ready : opens::at_once),
          all_(in_, p.sweeps, p.names, listener_) {}

    session& in() noexcept { return in_; }
    const global_options& options() const noexcept { return options_; }
    /// Ends soon, as if a signal had arrived.
    void end() noexcept { all_.end(); }
    /// Starts the sweeps; `done` receives the exit status. Repeated sweeps continue after a disconnection of the device; a single sweep
    /// fails.
    void start(std::function<void(int)> done) {
        if (!plan_.is_lasting()) {
            in_.start<std::optional<int>>(all_.run(), [done](std::optional<int> code) { done(code.value_or(failed)); });
            return;
        }
        reconnecting_.start<int>([this] { return all_.run(); },
                                 [done](std::optional<int> code) { done(code.value_or(partial)); });
    }
    void request(std::size_t known) {
        in_.post([this, known] { all_.request(known); });
    }
    /// Returns a function for file_rereader that reads the key files again.
    rereading::reader key_reading() {
        return [this, sources = options_.key_sources] {
            return [this, keys = keys_of(sources)] {
                options_.keys = keys;
                in_.note_new_keys();
            };
        };
    }

private:
    const std::size_t number_;
    global_options options_;
    const sweep_config& plan_;
    sweep_outputs& out_;
    session in_;
    const sweep_listener listener_{
        [this](const counters::sweep_view& v, const counters::sweep_totals& totals) { out_.write(number_, v, totals); },
        [this](const std::string& why) { out_.note_change(number_, why); },
        [this](const std::string& line) { out_.note_problem(number_, line); },
        [this](const std::string& why) {
            out_.note_still_lost(number_, {in_.device_or_fabric(), why});
        },
        [this] { out_.note_found(number_); },
    };
    sweep_loop all_;
    const disconnect_listener disconnects_{
        [this](const disconnect& now) { out_.note_lost(number_, now); },
        [this](const disconnect& now) { out_.note_still_lost(number_, now); },
        {},
        [this](const disconnect& over) {
            const u64 missed = all_.resume();
            out_.note_back(number_, over, missed);
            if (!over.was_open) return std::string();
            return fmt::format("missed {} sweep{}", missed, missed == 1 ? "" : "s");
        },
        [this](const std::string& line) { out_.print_line(line); },
    };
    reconnecting_session reconnecting_{in_, disconnects_};
};

/// Runs the sweeps of all fabrics, and owns their outputs.
class fabric_sweeps {
public:
    fabric_sweeps(sweep_run_config& plan, const std::vector<global_options>& options) : plan_(plan), out_(plan.out) {
        const bool lasts = plan.sweeps.is_lasting() || !plan.out.listen.empty();
        if (lasts) // must exist before the first message
            lasting_output_.emplace([this] { boost::asio::post(io_, [this] { end_after_failure(); }); });
        for (const global_options& o : options)
            all_.push_back(std::make_unique<fabric_sweeper>(all_.size(), o, plan, out_, io_));
        name_fabrics();
        const bool is_simulated =
            std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->in().is_virtual(); });
        if (!plan.out.listen.empty() && is_simulated)
            throw usage_error("--listen needs real time; remove time=virtual from --fabric");
        if (is_simulated) lasting_output_.reset(); // virtual time would not pass while it waits for a reader
        else if (lasts)
            for (const auto& one : all_) one->in().never_wait_for_readers();
        const auto on_scrape = [this](std::size_t fabric, std::size_t known) { all_.at(fabric)->request(known); };
        if (plan.sweeps.on_request) out_.open(io_.get_executor(), on_scrape);
        else out_.open(io_.get_executor(), {});
        const bool is_service = !plan.out.listen.empty() || !plan.out.file.empty();
        if (is_service && plan.sweeps.is_lasting() && !is_simulated) await_hangup();
    }

    /// Runs all sweeps. Returns the exit status.
    int run() {
        std::size_t running = all_.size();
        int code = complete;
        for (const auto& one : all_)
            one->start([&](int ended) {
                if (ended != complete) code = code == complete || code == ended ? ended : static_cast<int>(partial);
                if (--running == 0) io_.stop();
            });
        std::optional<keyboard> keys;
        if (out_.has_screen() && !all_.front()->in().is_virtual()) await_keys(keys);
        if (running) io_.run();
        keys.reset();
        out_.leave_screen();
        if (lasting_output_ && !lasting_output_->finish(how_long_to_wait()) && code == complete) code = partial;
        if (code == complete && !out_.is_complete()) code = partial;
        for (const auto& one : all_) code = finish(one->in(), code);
        return code;
    }

private:
    /// Stops all sweeps if nothing reads stdout. A server still delivers the sweeps to its clients.
    void end_after_failure() {
        if (out_.server()) return;
        for (const auto& one : all_) one->in().stop();
    }
    /// Returns how long to wait for a reader at the end. A service ends soon, even if nothing reads its output.
    std::function<bool()> how_long_to_wait() const {
        constexpr std::chrono::milliseconds brief{500};
        const bool is_stopped =
            std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->in().stopped(); });
        return is_stopped || !plan_.out.listen.empty() ? after(brief) : soon_after_stop_signal();
    }

    /// Names each fabric as the user did, or by its place. A single fabric needs no name.
    void name_fabrics() {
        if (all_.size() == 1 && all_.front()->options().fabric_name.empty()) return;
        plan_.out.fabrics.clear();
        std::vector<std::string> places;
        for (const auto& one : all_) {
            const std::string& place = one->in().place();
            if (std::find(places.begin(), places.end(), place) != places.end())
                throw usage_error(fmt::format("--fabric: '{}' is given twice", iba::escaped(place)));
            places.push_back(place);
            plan_.out.fabrics.push_back(name_of_fabric(one->options(), place));
        }
    }

    /// Handles keys. A screen shows only one fabric.
    void await_keys(std::optional<keyboard>& keys) {
        const auto on_key = [this](char key) {
            if (out_.press(key)) all_.front()->end();
        };
        keys.emplace(io_.get_executor(), on_key, [this] { out_.show(); });
    }

    void await_hangup() {
        hangup_.async_wait([this](boost::system::error_code error, int) {
            if (error) return;
            reread();
            await_hangup();
        });
    }
    /// Reads the files again in another thread, so that a slow file delays no sweep. If a file cannot be read, the old contents remain in
    /// use.
    void reread() {
        rereadings all;
        all.push_back({plan_.name_map, [this, file = plan_.name_map] {
                           return [this, names = read_names(file)] { plan_.names = names; };
                       }});
        if (!plan_.rules.empty())
            all.push_back({plan_.rules, [this, file = plan_.rules] {
                               return [this, rules = read_rules(file)] { plan_.out.rules = rules; };
                           }});
        for (std::size_t i = 0; i < plan_.known.size(); ++i)
            all.push_back({plan_.known[i], [this, i, file = plan_.known[i], options = all_.at(i)->options()] {
                               return [this, i, known = read_known(file, options)] { plan_.out.expected[i] = known; };
                           }});
        for (const auto& one : all_) all.push_back({"", one->key_reading()});
        if (!plan_.auth_file.empty())
            all.push_back({plan_.auth_file, [this, file = plan_.auth_file] {
                               return [this, read = read_authorizations(file)] {
                                   out_.server()->set_authorizations(read);
                               };
                           }});
        const bool begins = rereader_.start(std::move(all), [this](const std::vector<std::string>& problems) {
            for (const std::string& why : problems)
                print_message("SIGHUP: {}; the previous contents remain in use", why);
            if (const std::size_t forgotten = out_.refresh_known())
                print_message("SIGHUP: forgot {} missing nodes and links", forgotten);
            if (problems.empty()) print_message("SIGHUP: reloaded names, rules, known nodes, keys and credentials");
        });
        if (begins) return;
        const std::string file = rereader_.file_being_read();
        print_message("SIGHUP: ignored: {} is still being read; send the signal again later",
                      file.empty() ? "a file" : iba::as_given(file));
    }

    sweep_run_config& plan_;
    boost::asio::io_context io_{1};
    sweep_outputs out_;
    std::vector<std::unique_ptr<fabric_sweeper>> all_;
    boost::asio::signal_set hangup_{io_, SIGHUP};
    file_rereader rereader_{io_.get_executor()};
    std::optional<lasting_output> lasting_output_;
};

int run_sweep(const sweep_settings& s, const global_options& options) {
    const std::unique_ptr<sweep_run_config> plan = make_run_config(s);
    const std::vector<global_options> fabrics = each_fabric(options);
    if (fabrics.size() > 1 && plan->out.form != sweep_form::none)
        throw usage_error("several fabrics require --listen or --prometheus");
    if (fabrics.size() > 1 && (plan->sweeps.since || plan->sweeps.save))
        throw usage_error("--since and --save support only one fabric");
    if (fabrics.size() > 1 && !options.pcap.empty()) throw usage_error("--pcap supports only one fabric");
    plan->out.fabrics.resize(fabrics.size());
    if (!plan->known.empty() && plan->known.size() != fabrics.size())
        throw usage_error(
            fmt::format("--known is given {} times for {} fabrics; give one file for each fabric, in the same order",
                        plan->known.size(), fabrics.size()));
    for (std::size_t i = 0; i < plan->known.size(); ++i)
        plan->out.expected.push_back(read_known(plan->known[i], fabrics[i]));
    // Otherwise the only sweep would clear counters whose values are then lost. Repeated sweeps retry.
    if (!plan->out.file.empty() && !plan->sweeps.clears.empty() && !plan->out.keeps_trying)
        require_replaceable(plan->out.file);
    return fabric_sweeps(*plan, fabrics).run();
}

} // namespace

command sweep_command() {
    return {.name = "sweep",
            .group = command_group::counters,
            .no_sa_reason = "it queries PMAs",
            .writes = true,
            .multi_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<sweep_settings>();
                takes.option("--every", s->every);
                takes.option("-c,--count", s->count);
                takes.option("--refresh", s->refresh);
                takes.option("--refresh-by", s->refresh_by).one_of({"smp", "sa"});
                takes.option("--details", s->details);
                takes.option("--reset", s->resets);
                const argument& since = takes.option("--since", s->since).file(file_use::read_regular);
                takes.option("--save", s->save).file(file_use::cached);
                add_selection_options(takes, s->selected);
                takes.option("--top", s->top);
                takes.option("--by", s->by);
                add_name_map_option(takes, s->name_map, file_use::read_again);
                const argument& json = takes.flag("--json", s->json);
                const argument& csv = takes.flag("--csv", s->csv).excludes(json).excludes(since);
                takes.flag("--watch", s->watch).excludes(json).excludes(csv);
                const argument& listen = takes.option("--listen", s->listen);
                takes.option("--auth", s->auth_file).file(file_use::read_again).needs(listen);
                takes.flag("--on-scrape", s->on_scrape).needs(listen);
                takes.option("--prometheus", s->file).file(file_use::replaced);
                takes.option("--metrics", s->metrics).one_of({"all", "changed", "errors"});
                takes.option("--rules", s->rules).file(file_use::read_again);
                takes.option("--known", s->known).file(file_use::read_again);
                takes.option("--forget", s->forget);
                return [s](const global_options& options) { return run_sweep(*s, options); };
            }};
}

} // namespace ibtool
