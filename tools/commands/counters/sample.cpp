// SPDX-License-Identifier: MIT
// sample.cpp - sample: counts data and packets of a port over short intervals that the device itself measures (PortSamplesControl).
#include "comad.hpp"
#include "command.hpp"
#include "input/split_text.hpp"
#include "session/port_sampler.hpp"
#include "session/port_view.hpp"
#include "session/queries.hpp"
#include "text/error_text.hpp"
#include "text/output.hpp"
#include "text/port_samples_text.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>

namespace ibtool {
namespace {

/// The command line of sample.
struct sample_settings {
    std::string target, port, counters = "PortXmitData,PortRcvData,PortXmitPkts,PortRcvPkts,PortXmitWait",
                              interval = "1ms", window;
    target_options kind;
    std::optional<u64> mechanism;
    u64 count = 1;
    bool json = false;
};

/// The parsed command line.
struct sample_request {
    std::optional<command_target> target;
    std::optional<u8> port;
    std::vector<pm::sampled_quantity> quantities;
    std::chrono::nanoseconds interval{};
    std::optional<std::chrono::nanoseconds> window;
    std::optional<u8> mechanism;
    u64 count = 1;
    bool json = false;
};

/// Parses a name such as PortXmitData, or the number of a quantity that only some devices can sample. The text must outlive the result.
pm::sampled_quantity read_quantity(const std::string& text) {
    for (const pm::sampled_quantity& q : pm::sampled_quantities)
        if (to_lower(q.name) == to_lower(text)) return q;
    const auto number = iba::parse_number(text);
    if (number && number->value > 0 && number->value <= 0xffff) return {text, static_cast<u16>(number->value)};
    std::string names;
    for (const pm::sampled_quantity& q : pm::sampled_quantities) names += fmt::format("{}, ", q.name);
    throw usage_error(
        fmt::format("invalid counter {}; expected {}or a CounterSelect value (1..65535)", iba::as_given(text), names));
}

sample_request read_sample_request(const sample_settings& s, const std::vector<std::string>& names) {
    sample_request r;
    if (!s.target.empty()) r.target = read_target(s.target, s.kind);
    if (!s.port.empty()) r.port = static_cast<u8>(read_number(s.port, "the port", 254));
    else if (r.target)
        if (const auto port = take_port(*r.target)) r.port = static_cast<u8>(*port);
    for (const std::string& name : names) r.quantities.push_back(read_quantity(name));
    if (r.quantities.size() > pm::sample_counters)
        throw usage_error(fmt::format("--counters accepts at most {} counters", pm::sample_counters));
    r.interval = parse_duration(s.interval);
    if (!s.window.empty()) r.window = parse_duration(s.window);
    if (r.window && *r.window < r.interval) throw usage_error("--window must not be shorter than --interval");
    if (s.mechanism) r.mechanism = static_cast<u8>(*s.mechanism);
    r.count = s.count;
    r.json = s.json;
    return r;
}

/// Takes the samples, and prints each sample or window as soon as it is complete.
class sample_run {
public:
    sample_run(session& in, const sample_request& how) : in_(in), how_(how) {}

    /// Returns the error of the first query that failed, if no sample was printed before.
    query_task<exit_code> run() {
        BOOST_OUTCOME_CO_TRY(co_await prepare());
        for (u64 i = 0; i < how_.count; ++i) {
            auto next = how_.window ? print_window() : print_sample();
            auto printed = co_await std::move(next);
            if (printed) continue;
            if (!has_printed_ && printed.error().code != mad::errc::cancelled) co_return std::move(printed.error());
            if (printed.error().code != mad::errc::cancelled) print_error(printed.error(), in_.options());
            co_return partial;
        }
        co_return complete;
    }

    bool has_written() const noexcept { return sampler_ && sampler_->has_written(); }
    /// Returns the exit code if no sample was printed. If the device refused the Set, nothing has changed.
    exit_code exit_code_of(const mad::mad_error& e) const {
        return has_written() && e.code != mad::errc::status ? partial : failed;
    }

private:
    query_task<bool> prepare() {
        const command_target place = how_.target ? *how_.target : this_port(in_);
        BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in_, place));
        BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in_, path));
        BOOST_OUTCOME_CO_TRY(const auto view, co_await view_port(in_, path, how_.port));
        if (view.is_switch() && !how_.port)
            throw std::runtime_error(
                fmt::format("LID {} is a switch; give the number of the port to sample", value(to.DLID)));
        BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.schedule().PerformanceGet<iba::ClassPortInfo>(to));
        sampling_request request{.agent = {to, info}, .port = view.true_number(), .link = sampled_link(view)};
        request.quantities = how_.quantities;
        request.interval = how_.interval;
        request.mechanism = how_.mechanism;
        request.first_tag = static_cast<u16>(std::random_device{}());
        heading_ = {.LID = value(to.DLID), .port = request.port, .data_rate = request.link.data_rate};
        heading_.quantities = how_.quantities;
        heading_.window = how_.window;
        sampler_.emplace(in_, std::move(request));
        BOOST_OUTCOME_CO_TRY(co_await sampler_->prepare());
        heading_.mechanism = sampler_->mechanism();
        heading_.tick_seconds = sampler_->tick_seconds();
        heading_.ticks = sampler_->ticks();
        co_return true;
    }

    query_task<sample_counts> take() {
        BOOST_OUTCOME_CO_TRY(const auto taken, co_await sampler_->take());
        if (!begin_) begin_ = taken.begin;
        sample_counts s{.begin = taken.begin - *begin_, .counts = {}};
        for (const auto& [value, is_limit] : taken.counts) s.counts.push_back({value, is_limit});
        co_return s;
    }

    query_task<bool> print_sample() {
        BOOST_OUTCOME_CO_TRY(const auto s, co_await take());
        print(how_.json ? sample_json(heading_, s) : sample_text(heading_, s));
        co_return true;
    }

    /// Prints also a window that a signal or a failure ended early, if it contains a sample.
    query_task<bool> print_window() {
        const mad::time_point begin = in_.now();
        if (!begin_) begin_ = begin;
        sample_window window(heading_, begin - *begin_);
        std::optional<mad::mad_error> problem;
        while (!problem && in_.now() - begin < *how_.window) {
            auto s = co_await take();
            if (s) window.add(s.value());
            else problem = std::move(s.error());
        }
        if (window.samples() > 0) print(how_.json ? window.json() : window.text());
        if (problem) co_return std::move(*problem);
        co_return true;
    }

    void print(const std::string& text) {
        if (!has_printed_) write_output(how_.json ? samples_json(heading_) : samples_text(heading_));
        has_printed_ = true;
        write_output(text);
    }

    session& in_;
    const sample_request& how_;
    samples_heading heading_;
    std::optional<port_sampler> sampler_;
    std::optional<mad::time_point> begin_; // of the first sample or window
    bool has_printed_ = false;
};

int run_sample(const sample_settings& s, const global_options& options) {
    const std::vector<std::string> names = split(s.counters, ',');
    const sample_request how = read_sample_request(s, names);
    if (!may_query_port_samples(options))
        throw std::runtime_error(
            "cannot sample ports in ibsim: it does not implement PortSamplesControl; use --fabric sim:...");
    session in(options, how.target ? &*how.target : nullptr);
    sample_run all(in, how);
    try {
        const auto ended = in.run(all.run());
        if (!ended) print_error(ended.error(), options);
        return finish(in, ended ? ended.value() : all.exit_code_of(ended.error()));
    } catch (const std::runtime_error& e) {
        if (!all.has_written()) throw;
        print_message("{}", e.what());
        return finish(in, partial);
    }
}

} // namespace

command sample_command() {
    return {
        .name = "sample", .group = command_group::counters, .writes = true, .declare = [](arguments& takes) -> action {
            auto s = std::make_shared<sample_settings>();
            takes.option("target", s->target);
            takes.option("port", s->port);
            takes.option("--counters", s->counters);
            takes.option("--interval", s->interval);
            takes.option("-c,--count", s->count).range(1, 1'000'000'000);
            takes.option("--window", s->window);
            takes.option("--mechanism", s->mechanism).range(0, 255);
            add_lid_option(takes, s->kind);
            add_guid_option(takes, s->kind);
            takes.flag("--json", s->json);
            return [s](const global_options& options) { return run_sample(*s, options); };
        }};
}

} // namespace ibtool
