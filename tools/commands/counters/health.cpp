// SPDX-License-Identifier: MIT
// health.cpp - health: rates the links of a subnet by rules, based on two sweeps of all counters.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/port_sampler.hpp"
#include "session/report.hpp"
#include "session/selection.hpp"
#include "text/csv_table.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/subnet_missing.hpp"
#include <comad/counters/health.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <vector>

namespace ibtool {
namespace {

using counters::cable_findings;
using counters::health_finding;
using counters::severity;
using discovery::port_ref;
using rule = counters::health_finding::rule;

/// The command line of `ibtool health`.
struct health_settings {
    std::string rules, name_map, length = "10s";
    unsigned top = 0; ///< print only the worst cables; 0: all
    selection_options selected;
    bool details = false, json = false, csv = false;
};

/// The two sweeps, and what the report needs to describe them.
struct health_report {
    const discovery::node_names& names;
    const discovery::subnet& subnet;
    const counters::sweep& before;
    const counters::sweep& after;
    std::vector<cable_findings> cables;
    std::vector<discovery::failure> failures; ///< of both sweeps
    bool is_complete;
    std::size_t printed; ///< number of cables that are printed

    /// Returns the number of findings of a severity.
    std::size_t count(severity s) const {
        std::size_t all = 0;
        for (const cable_findings& c : cables) all += count(c, s);
        return all;
    }
    static std::size_t count(const cable_findings& c, severity s) {
        return static_cast<std::size_t>(std::ranges::count(c.findings, s, &health_finding::how_bad));
    }
    double seconds() const { return comad::mad::in_seconds(after.begin - before.begin); }
};

// ---- text ------------------------------------------------------------------------------------------------------------

std::string format_time(double seconds) {
    for (const auto& [unit, length] : {std::pair{"d", 86400.0}, {"h", 3600.0}, {"min", 60.0}})
        if (seconds >= length) return seconds == length ? unit : fmt::format("{:.6g} {}", seconds / length, unit);
    return seconds == 1 ? "s" : fmt::format("{:.6g} s", seconds);
}

/// Formats a rate. The interval between the sweeps is not exact, so more digits would have no meaning.
std::string format_rate(double rate) { return rate < 1000 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate); }

/// Returns the words before the value with which a finding compares a port.
std::string_view compared(const health_finding& v) {
    return v.is_of_other_end ? "the neighbor runs at" : "both ends support";
}

/// Describes why a port is in the report.
std::string reason(const health_finding& v) {
    const auto counted = [&] {
        return fmt::format("increased by {}{} in {:.4g} s", v.is_at_least ? "at least " : "", v.counted,
                           comad::mad::in_seconds(v.between));
    };
    switch (v.why) {
    case rule::growth:
        return fmt::format("{} {}, {} per {}, limit {:g}", v.counter, counted(), format_rate(v.measured),
                           format_time(comad::mad::in_seconds(v.per)), v.limit);
    case rule::bit_errors:
    case rule::raw_bit_errors:
        return fmt::format("{} {}, bit error ratio {:.2g}, limit {:g}", v.counter, counted(), v.measured, v.limit);
    case rule::width: return fmt::format("width is {:g}X, but {} {:g}X", v.measured, compared(v), v.limit);
    case rule::speed:
        return fmt::format("speed is {:.7g} Gb/s per lane, but {} {:.7g}", v.measured / 1e9, compared(v),
                           v.limit / 1e9);
    case rule::utilization:
        return fmt::format("{} {}, {:.3g} % of the data rate, limit {:g} %", v.counter, counted(), 100 * v.measured,
                           100 * v.limit);
    case rule::congestion:
        return fmt::format("{} {}, {:.3g} % of the time, limit {:g} %", v.counter, counted(), 100 * v.measured,
                           100 * v.limit);
    case rule::pegged:
        return fmt::format("{} is saturated at {:.0f} (clear it to count further events)", v.counter, v.measured);
    }
    return {};
}

std::string examined_place(const health_report& x, port_ref where) {
    return fmt::format("\"{}\"[{}]", x.names.of(x.subnet.nodes[where.node]), where.port);
}

/// Returns `"leaf-0001"[3] <=> "spine-0001"[1]`, or only the first end if the neighbor is unknown.
std::string both_ends(const health_report& x, const cable_findings& c) {
    const std::string a = examined_place(x, c.a);
    return c.b ? fmt::format("{} <=> {}", a, examined_place(x, c.b)) : a;
}

/// Returns whether a finding concerns the whole link, and both ends report it.
bool is_of_link(const health_finding& v) { return v.why == rule::width || v.why == rule::speed; }

/// Returns whether the other end of the cable has the same finding as well.
bool is_at_both_ends(const cable_findings& c, const health_finding& v) {
    return std::ranges::any_of(c.findings, [&](const health_finding& other) {
        return other.where != v.where && other.why == v.why && other.counter == v.counter && other.how_bad == v.how_bad;
    });
}

/// Returns `and 2 errors, 14 warnings`; empty if there are none.
std::string further_findings(std::size_t critical, std::size_t errors, std::size_t warnings) {
    std::string text;
    const auto add = [&](std::size_t number, std::string_view what) {
        if (number) text += fmt::format("{}{} {}", text.empty() ? "and " : ", ", number, what);
    };
    add(critical, "critical");
    add(errors, errors == 1 ? "error" : "errors");
    add(warnings, warnings == 1 ? "warning" : "warnings");
    return text;
}

/// Describes the worst findings of a cable in one line, each once for both ends, and counts the others.
std::string cable_line(const health_report& x, const cable_findings& c) {
    constexpr std::size_t most_reasons = 3;
    std::vector<std::string> reasons;
    std::vector<const health_finding*> described;
    std::size_t left[] = {x.count(c, severity::critical), x.count(c, severity::error), x.count(c, severity::warning)};
    const auto left_of = [&](severity s) -> std::size_t& {
        return left[s == severity::critical ? 0 : s == severity::error ? 1 : 2];
    };
    for (const health_finding& v : c.findings) {
        if (v.how_bad != c.how_bad) break;
        const auto is_same = [&](const health_finding* t) { return t->why == v.why && t->counter == v.counter; };
        if (std::ranges::any_of(described, is_same)) { // the same at the other end
            --left_of(v.how_bad);
            continue;
        }
        if (described.size() == most_reasons) continue;
        described.push_back(&v);
        --left_of(v.how_bad);
        std::string text = reason(v);
        if (v.is_of_other_end || (!is_of_link(v) && !is_at_both_ends(c, v)))
            text += fmt::format(" (at {})", examined_place(x, v.where));
        else if (!is_of_link(v)) text += " (at both ends)";
        reasons.push_back(std::move(text));
    }
    if (std::string more = further_findings(left[0], left[1], left[2]); !more.empty())
        reasons.push_back(std::move(more));
    return fmt::format("{:<8} {}: {}\n", name_of(c.how_bad), both_ends(x, c), fmt::join(reasons, "; "));
}

std::string health_head(const health_report& x) {
    std::string text =
        fmt::format("# {} ports over {:.3f} s: {} critical, {} errors, {} warnings", x.after.ports.size(), x.seconds(),
                    x.count(severity::critical), x.count(severity::error), x.count(severity::warning));
    if (const std::size_t all = x.cables.size(); all != 0) {
        text += fmt::format(" on {} cable{}", all, all == 1 ? "" : "s");
        if (x.printed < all) text += fmt::format(" (worst {} shown)", x.printed);
    }
    return text + (x.is_complete ? "\n" : "; partial result\n");
}

std::string as_text(const health_report& x, bool details) {
    std::string text = health_head(x);
    for (std::size_t i = 0; i < x.printed; ++i) {
        text += cable_line(x, x.cables[i]);
        if (!details) continue;
        for (const health_finding& v : x.cables[i].findings)
            text += fmt::format("  {:<8} {}: {}\n", name_of(v.how_bad), examined_place(x, v.where), reason(v));
    }
    return text;
}

// ---- JSON ------------------------------------------------------------------------------------------------------------

void add_examined_place(nlohmann::ordered_json& to, const health_report& x, port_ref where) {
    const discovery::node& n = x.subnet.nodes[where.node];
    to["nodeGUID"] = fmt::format("{}", n.info.nodeGUID);
    to["description"] = json_string(x.names.raw(n));
    to["port"] = where.port;
}

/// Describes a finding. `cable`: the rank of its cable, 1 for the worst.
nlohmann::ordered_json finding_json(const health_report& x, const health_finding& v, std::size_t cable) {
    nlohmann::ordered_json line{{"severity", name_of(v.how_bad)}};
    add_examined_place(line, x, v.where);
    line["rule"] = name_of(v.why);
    if (!v.counter.empty()) line["counter"] = v.counter;
    if (v.between != comad::mad::duration::zero()) {
        line["counted"] = v.counted;
        line["at_least"] = v.is_at_least;
        line["interval_seconds"] = json_number(comad::mad::in_seconds(v.between));
    }
    if (v.why == rule::growth) line["per_seconds"] = json_number(comad::mad::in_seconds(v.per));
    if (v.is_of_other_end) line["limit_of"] = "other_end";
    line["measured"] = json_number(v.measured);
    line["limit"] = json_number(v.limit);
    line["cable"] = cable;
    if (const port_ref peer = x.subnet.at(v.where).peer) line["peer"] = place_json(x.subnet, peer, x.names);
    return line;
}

std::string as_json(const health_report& x) {
    std::string text = json_line({{"schema", "comad.health/1"},
                                  {"ports", x.after.ports.size()},
                                  {"seconds", json_number(x.seconds())},
                                  {"critical", x.count(severity::critical)},
                                  {"error", x.count(severity::error)},
                                  {"warning", x.count(severity::warning)},
                                  {"complete", x.is_complete},
                                  {"cables", x.cables.size()}});
    for (std::size_t i = 0; i < x.printed; ++i)
        for (const health_finding& v : x.cables[i].findings) text += json_line(finding_json(x, v, i + 1));
    for (const discovery::failure& g : all_missing(x.subnet, x.failures)) {
        auto line = nlohmann::ordered_json::object();
        if (const port_ref where = x.subnet.find(g.where)) add_examined_place(line, x, where);
        line["why"] = json_string(g.text);
        text += json_line(line);
    }
    return text;
}

// ---- CSV -------------------------------------------------------------------------------------------------------------

/// Returns one line for each finding: the members of the JSON objects.
std::string as_csv(const health_report& x) {
    csv_table table({"severity", "nodeGUID", "description", "port", "rule", "counter", "counted", "at_least",
                     "interval_seconds", "per_seconds", "measured", "limit", "limit_of", "cable", "peer/nodeGUID",
                     "peer/description", "peer/port"});
    for (std::size_t i = 0; i < x.printed; ++i)
        for (const health_finding& v : x.cables[i].findings) table.add(finding_json(x, v, i + 1));
    return table.text();
}

// ---- sweeps ----------------------------------------------------------------------------------------------------------

bool is_at_same_port(const discovery::failure& a, const discovery::failure& b) {
    return a.where.nodeGUID == b.where.nodeGUID && a.where.port == b.where.port;
}

/// Returns the failures of both sweeps, each location once: the second sweep queries unresponsive ports again.
std::vector<discovery::failure> failures_of(const counters::sweep& before, const counters::sweep& after) {
    std::vector<discovery::failure> all = before.failures;
    for (const discovery::failure& g : after.failures)
        if (std::ranges::none_of(all, [&](const discovery::failure& f) { return is_at_same_port(f, g); }))
            all.push_back(g);
    return all;
}

/// Formats the progress of the two sweeps.
class examination_progress {
public:
    explicit examination_progress(std::chrono::nanoseconds length) : length_(length) {}

    void begin(const session& in, comad::mad::time_point first_sweep) {
        in_ = &in;
        first_sweep_ = first_sweep;
    }
    /// Returns `4 of 10 s`.
    std::string text() const {
        if (!in_) return "discovering the subnet and reading its counters";
        const auto passed = std::min<std::chrono::nanoseconds>(in_->now() - first_sweep_, length_);
        return fmt::format("waiting for the second sweep: {:.0f} of {:.0f} s", comad::mad::in_seconds(passed),
                           comad::mad::in_seconds(length_));
    }

private:
    std::chrono::nanoseconds length_;
    const session* in_ = nullptr;
    comad::mad::time_point first_sweep_{};
};

constexpr const char* ended_early_text = "ended before the second sweep: there is nothing to compare";

/// Returns the report of a run that a signal ended before the second sweep: it is partial, and found nothing.
report ended_early() {
    report made;
    made.missing.push_back(failure_at({}, ended_early_text));
    return made;
}

/// Sweeps the counters twice, and rates the links.
query_task<report> examine(session& in, const health_settings& s, std::chrono::nanoseconds length,
                           const counters::health_rules& rules, const discovery::node_names& names,
                           const subnet_selection& selected, examination_progress& progress) {
    const auto found = co_await discover_subnet(in);
    if (in.stopped()) co_return ended_early();
    if (!found) refuse_silent_port(found.error(), in.options());
    const discovery::subnet& known = found.value();
    counters::sweep_options how;
    how.details = counters::health_details();
    how.reads_ticks = !rules.congestion.empty() && may_query_port_samples(in.options());
    const selected_parts parts(selected, known, names);
    parts.require_nodes();
    how.wants = [&parts](const discovery::subnet& all, port_ref where) {
        return all.at(where).info.has_value() && parts.link(all, where);
    };
    counters::sweeper sweeper(in.schedule(), known, how);
    if (sweeper.ports() == 0 && !selected.is_all())
        throw std::runtime_error("the options select no port of the subnet");
    const counters::sweep before = co_await sweeper.run();
    progress.begin(in, before.begin);
    const bool goes_on = co_await in.schedule().pause(before.begin + length - in.now());
    if (in.stopped()) co_return ended_early();
    if (!goes_on) throw std::runtime_error(ended_early_text);
    const counters::sweep after = co_await sweeper.run();

    health_report x{
        names, known, before, after, by_cable(known, evaluate(rules, known, before, after)), failures_of(before, after),
        true,  0};
    x.printed = s.top == 0 ? x.cables.size() : std::min<std::size_t>(x.cables.size(), s.top);
    x.is_complete = known.complete() && x.failures.empty();
    report all;
    all.text = s.json ? as_json(x) : s.csv ? as_csv(x) : as_text(x, s.details);
    all.notes = parts.notes();
    all.missing = all_missing(known, x.failures);
    all.is_any_bad = x.count(severity::critical) + x.count(severity::error) > 0;
    co_return all;
}

int run_health(const health_settings& s, const global_options& options) {
    const std::chrono::nanoseconds length = parse_duration(s.length);
    const counters::health_rules rules =
        s.rules.empty() ? counters::default_rules() : counters::read_health_rules(s.rules);
    const discovery::node_names names = read_node_names(s.name_map);
    const subnet_selection selected(s.selected);
    examination_progress progress(length);
    return run_query(
        options, nullptr, [&](session& in) { return examine(in, s, length, rules, names, selected, progress); },
        [&] { return progress.text(); });
}

} // namespace

command health_command() {
    return {.name = "health",
            .group = command_group::counters,
            .no_sa_reason = "it queries PMAs",
            .per_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<health_settings>();
                takes.option("--for", s->length).shows_default();
                takes.option("--rules", s->rules).file(file_use::read);
                takes.option("--top", s->top).range(1, 1'000'000);
                takes.flag("--details", s->details);
                add_name_map_option(takes, s->name_map);
                const argument& json = takes.flag("--json", s->json);
                takes.flag("--csv", s->csv).excludes(json);
                add_selection_options(takes, s->selected);
                return [s](const global_options& options) { return run_health(*s, options); };
            }};
}

} // namespace ibtool
