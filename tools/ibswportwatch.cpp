// SPDX-License-Identifier: MIT
// ibswportwatch.cpp - ibswportwatch: how fast the counters of one port move, look after look. It only reads.
#include "ask.hpp"
#include "checks.hpp"
#include "commands.hpp"
#include "counter_reader.hpp"
#include "output.hpp"
#include "watch_text.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

namespace coro = comad::coro;
namespace iba = comad::iba;
namespace mad = comad::mad;
namespace perf = comad::perf;
namespace smp = comad::iba::smp;
using comad::u64;
using comad::u8;

struct settings {
    std::string target, port, every = "1", thresholds;
    target_options kind;
    u64 count = 0; ///< 0: until a signal comes
    bool only_above = false, json = false;
};

/// As the scripts have it a number alone is seconds.
std::chrono::nanoseconds read_period(const std::string& text) {
    const bool has_unit = !text.empty() && std::isalpha(static_cast<unsigned char>(text.back()));
    return parse_duration(has_unit ? text : text + 's');
}

double in_seconds(mad::duration time) { return std::chrono::duration<double>(time).count(); }

class watch {
public:
    watch(session& in, const settings& s)
        : in_(in), how_(s), period_(read_period(s.every)), thresholds_(read_thresholds(s.thresholds)) {}

    /// The exit code; the error of the first look, or of what is asked before.
    asked<int> run(std::optional<mad::address> target) {
        BOOST_OUTCOME_CO_TRYV(co_await find(std::move(target)));
        BOOST_OUTCOME_CO_TRY(last_, co_await look());
        const perf::sample first = last_;
        begin_ = first.at;
        tell_first();
        for (u64 number = 1; how_.count == 0 || number <= how_.count; ++number) {
            const bool goes_on = co_await wait_for_next();
            if (!goes_on) break;
            auto now = co_await look();
            if (!now && now.error().code == mad::errc::cancelled) break;
            if (now) tell_changes(now.value());
            else tell_missing(now.error());
        }
        tell_totals();
        co_return is_complete_ ? complete : partial;
    }

private:
    asked<void> find(std::optional<mad::address> target) {
        const mad::address place = target ? *target : this_port(in_);
        BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in_, place));
        BOOST_OUTCOME_CO_TRY(to_, co_await LID_routed(in_, path));
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.schedule().PerformanceGet<iba::ClassPortInfo>(to_));
        can_ = perf::abilities::of(info);
        if (!how_.port.empty()) {
            port_ = static_cast<u8>(read_number(how_.port, "the port", all_ports));
            co_return boost::outcome_v2::success();
        }
        BOOST_OUTCOME_CO_TRY(const auto node, co_await in_.SubnGet<smp::NodeInfo>(to_));
        if (node.nodeType == iba::NodeType::Switch) throw std::runtime_error("it is a switch: say which of its ports");
        port_ = node.localPortNum;
        co_return boost::outcome_v2::success();
    }

    asked<perf::sample> look() {
        BOOST_OUTCOME_CO_TRY(const auto told, co_await read_counters(in_.schedule(), to_, can_, port_));
        co_return perf::sample{in_.schedule().now(), told};
    }

    /// Until the next full period since the first look. False: a signal came.
    coro::task<bool> wait_for_next() {
        const auto periods = (in_.now() - begin_) / period_ + 1;
        if (periods > due_ + 1) {
            fmt::print(stderr, "ibtool: a look took too long: {} left out\n", periods - due_ - 1);
            is_complete_ = false;
        }
        due_ = periods;
        co_return co_await in_.schedule().pause(begin_ + periods * period_ - in_.now());
    }

    const error_thresholds* above() const { return how_.only_above ? &thresholds_ : nullptr; }

    nlohmann::ordered_json head(double seconds) const {
        return {{"seconds", seconds}, {"LID", value(to_.DLID)}, {"port", port_}};
    }

    void tell_first() const {
        if (how_.json) {
            auto line = head(0);
            line["counters"] = counters_json(last_.counters);
            write_output(line.dump() + '\n');
        } else {
            write_output(fmt::format("# Lid {} port {}, every {} s\n{}", value(to_.DLID), port_, in_seconds(period_),
                                     how_.only_above ? std::string() : counters_text(last_.counters)));
        }
    }

    void tell_changes(const perf::sample& now) {
        const double seconds = in_seconds(now.at - begin_);
        if (how_.json) {
            auto line = head(seconds);
            line["interval_seconds"] = in_seconds(now.at - last_.at);
            line["counters"] = counters_json(now.counters);
            line["changes"] = changes_json(last_, now, above());
            write_output(line.dump() + '\n');
        } else {
            const std::string text = changes_text(last_, now, above());
            if (!how_.only_above || !text.empty()) write_output(fmt::format("# {:.3f} s\n{}", seconds, text));
        }
        totals_.add(last_, now);
        last_ = now;
        ++looks_;
    }

    void tell_missing(const mad::mad_error& why) {
        fmt::print(stderr, "ibtool: {}\n", to_string(why));
        is_complete_ = false;
    }

    void tell_totals() const {
        const double seconds = in_seconds(last_.at - begin_);
        if (how_.json)
            write_output(
                nlohmann::ordered_json{{"intervals", looks_}, {"seconds", seconds}, {"totals", totals_.json()}}.dump() +
                '\n');
        else write_output(fmt::format("\n## Summary: {} intervals, {:.3f} s\n{}", looks_, seconds, totals_.text()));
    }

    session& in_;
    const settings& how_;
    const std::chrono::nanoseconds period_;
    const error_thresholds thresholds_;
    mad::IBPath to_;
    perf::abilities can_;
    u8 port_ = 0;
    mad::time_point begin_{};
    perf::sample last_{};
    change_totals totals_;
    u64 looks_ = 0;                         // after the first
    std::chrono::nanoseconds::rep due_ = 0; // periods
    bool is_complete_ = true;
};

int run_command(const settings& s, const global_options& options) {
    std::optional<mad::address> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    session in(options, target ? &*target : nullptr);
    watch all(in, s);
    const mad::result<int> code = in.run(all.run(target));
    fmt::print(stderr, "{}", in.counts());
    const std::string capture_problem = in.finish_capture();
    if (!capture_problem.empty()) fmt::print(stderr, "ibtool: {}\n", capture_problem);
    if (!code) {
        fmt::print(stderr, "{}", mad::dump(code.error(), options.debug, "ibtool: "));
        return failed;
    }
    return capture_problem.empty() ? code.value() : static_cast<int>(partial);
}

} // namespace

void add_ibswportwatch(CLI::App& app, action& run) {
    auto s = std::make_shared<settings>();
    CLI::App& command = *app.add_subcommand("ibswportwatch", "watch the counters of one port");
    command.add_option("target", s->target, "a port of the node [the local one]");
    command.add_option("port", s->port, "the number of the port [of other nodes than switches the target's own]");
    command.add_option("-n,--count", s->count, "end after so many intervals [at a signal]");
    command.add_option("-p,--period", s->every, "seconds from look to look, or with a unit: 500ms")
        ->capture_default_str();
    command.add_flag(
        "-t,--above-thresholds", s->only_above,
        "only counters that count faster than their threshold a second (here -t is no timeout; --timeout is)");
    command.add_option("-T,--threshold-file", s->thresholds, "file of lines SymbolErrorCounter=10")->type_name("FILE");
    command.add_flag_function(
        "-b", [](std::int64_t) {}, "nothing: rates are always shown; accepted for scripts");
    add_lid_option(command, s->kind);
    add_guid_option(command, s->kind);
    command.add_flag("--json", s->json, "a JSON object a line");
    command.callback([s, &run] { run = [s](const global_options& options) { return run_command(*s, options); }; });
}

} // namespace ibtool
