// SPDX-License-Identifier: MIT
// perfquery.cpp - perfquery: prints the counters of ports in the format of infiniband-diags, or as JSON. Writes only with -r and -R,
// which clear counters.
#include "comad.hpp"
#include "command.hpp"
#include "commands/counters/counter_options.hpp"
#include "input/split_text.hpp"
#include "session/counter_queries.hpp"
#include "session/queries.hpp"
#include "text/json.hpp"
#include "text/structure_text.hpp"
#include <comad/coro/detail/when_all.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace ibtool {
namespace {

/// The command line of perfquery.
struct perfquery_settings {
    std::string target, ports, mask;
    target_options kind;
    counter_options counter_choice;
    bool all = false, loop = false, read_and_reset = false, reset_only = false, json = false;
};

/// The parsed command line.
struct counter_request {
    std::vector<const counter_group*> groups;
    std::vector<u8> ports; ///< empty: the port of the target, or all ports
    bool all = false;      ///< all ports of the node
    bool sums = false;     ///< print one sum for several ports
    bool reads = true;
    bool resets = false;
    std::optional<u64> mask; ///< counters to clear; nullopt: all counters
    bool json = false;
};

u8 read_port(const std::string& text) { return static_cast<u8>(read_number(text, "the port", 254)); }

/// Parses a list of ports: `3`, `1-10`, `1,4,8`, or a combination.
std::vector<u8> read_ports(const std::string& text) {
    std::vector<u8> ports;
    for (const std::string& part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const u8 first = read_port(part.substr(0, dash));
        const u8 last = dash == part.npos ? first : read_port(part.substr(dash + 1));
        if (last < first)
            throw usage_error(
                fmt::format("invalid port range {}: the last port must not be below the first", iba::as_given(part)));
        for (unsigned port = first; port <= last; ++port) ports.push_back(static_cast<u8>(port));
    }
    return ports;
}

u64 read_mask(const std::string& text) {
    const auto mask = iba::parse_number(text);
    if (!mask || mask->value == 0)
        throw usage_error(fmt::format("the reset mask must be a number above 0, not {}", iba::as_given(text)));
    return mask->value;
}

counter_request read_counter_request(const perfquery_settings& s) {
    counter_request r;
    r.json = s.json;
    r.groups = s.counter_choice.groups();
    if (r.groups.empty()) r.groups.push_back(&group_of<pm::PortCounters>);
    r.all = s.ports == "255" || ((s.all || s.loop) && s.ports.empty());
    if (!s.ports.empty() && !r.all) r.ports = read_ports(s.ports);
    r.sums = (r.all || s.all) && !s.loop;
    r.reads = !s.reset_only;
    r.resets = s.read_and_reset || s.reset_only;
    if (!s.mask.empty()) {
        if (!r.resets) throw usage_error("a reset mask requires -r or -R");
        r.mask = read_mask(s.mask);
    }
    if (r.resets && std::ranges::find(r.groups, &group_of<pm::PortSamplesCtl>) != r.groups.end())
        throw usage_error("PortSamplesControl has no counters to reset");
    return r;
}

// ---- queries -------------------------------------------------------------------------------------------------------

/// The PMA to query, and the parsed command line.
struct counter_query : performance_agent {
    session& in;
    const counter_request& how;
};

/// The reply of a port for one group. `bytes` is empty if the counters are only cleared.
struct group_reading {
    const counter_group* group;
    u8 port;
    std::vector<u8> bytes;
    std::vector<clearing_problem> not_cleared{};
};

/// Returns the ports that a portSelect stands for: all ports of the node for 255.
coro::task<std::vector<u8>> ports_behind(const counter_query& q, u8 port) {
    if (port != all_ports) co_return std::vector<u8>{port};
    auto all = co_await ports_with_counters(q.in, q.to);
    co_return all ? std::move(all).value() : std::vector<u8>{port};
}

/// Reads, clears, or reads and clears one group of counters of a port.
query_task<group_reading> query_port(const counter_query& q, const counter_group& wanted, u8 port) {
    group_reading c{&wanted, port, {}};
    if (q.how.reads) {
        BOOST_OUTCOME_CO_TRY(c.group, co_await active_group(q.in, q, wanted, port));
    }
    const counter_group& g = *c.group;
    if (q.how.reads) {
        BOOST_OUTCOME_CO_TRY(c.bytes, co_await get_counters(q.in.schedule(), q.to, g, port));
    }
    if (q.how.resets) {
        const u64 mask = q.how.mask.value_or(all_counters(g, q.info));
        const auto checked = co_await ports_behind(q, port);
        clearing_request all{q, &g, port, checked, mask};
        BOOST_OUTCOME_CO_TRY(c.not_cleared, co_await clear_counters(q.in, std::move(all)));
    }
    co_return c;
}

/// Returns the ports to query one by one, or 255 to query the sum that the node calculates.
query_task<std::vector<u8>> ports_of(const counter_query& q, bool can_sum) {
    if (!q.how.ports.empty()) co_return q.how.ports;
    if (q.how.sums && can_sum && q.can().all_ports) co_return std::vector<u8>{all_ports};
    if (q.how.all) co_return co_await ports_with_counters(q.in, q.to);
    BOOST_OUTCOME_CO_TRY(const auto node, co_await q.in.SubnGet<smp::NodeInfo>(q.to));
    co_return std::vector<u8>{node.nodeType == iba::NodeType::Switch ? u8{0} : node.localPortNum};
}

// ---- replies ---------------------------------------------------------------------------------------------------------

/// Returns one line of JSON. `summed`: the ports that this program added up; empty if it did not.
std::string json_of(const counter_query& q, const group_reading& c, const std::vector<u8>& summed) {
    nlohmann::ordered_json line{{"attribute", c.group->name}, {"LID", value(q.to.DLID)}, {"port", c.port}};
    if (!summed.empty()) line["summed"] = summed;
    if (!c.bytes.empty()) line["counters"] = counters_json(q, *c.group, c.bytes);
    if (q.how.resets && c.not_cleared.empty()) line["reset"] = q.how.mask.value_or(all_counters(*c.group, q.info));
    return json_line(line);
}

std::string format_reading(const counter_query& q, const group_reading& c) {
    const structure_style style = style_of(q.in.options());
    if (style == structure_style::diags) return c.group->text(c.bytes, q.info);
    return format_structure(style, c.group->info, c.bytes);
}

std::string text_of(const counter_query& q, const group_reading& c, const std::vector<u8>& summed = {}) {
    if (q.how.json) return json_of(q, c, summed);
    return q.how.reads ? heading(q, *c.group, c.port) + format_reading(q, c) : std::string();
}

/// Formats the sum of the counters of several ports.
std::string format_sum(const counter_query& q, const std::vector<group_reading>& all) {
    std::vector<u8> summed;
    std::vector<std::vector<u8>> values;
    for (const group_reading& c : all) {
        summed.push_back(c.port);
        values.push_back(c.bytes);
    }
    return text_of(q, {all[0].group, all_ports, sum_of(*all[0].group, values)}, summed);
}

/// Returns whether counters of a group can be added up. Samples cannot, nor can counters that depend on the FEC of a port.
bool can_sum(const counter_group& g, const counter_query& q) {
    if (&g == &group_of<pm::PortExtendedSpeedsCounters>) return !q.can().RS_FEC;
    return &g != &group_of<pm::PortSamplesCtl>;
}

discovery::failure missing_counters_of(const counter_group& g, u8 port, const mad::mad_error& e) {
    discovery::failure f = port_failure(port, fmt::format("{} port {}", g.name, port), to_string(e), cause_text(e));
    f.where.short_name = fmt::format("port {}", port);
    return f;
}

discovery::failure not_cleared(const clearing_problem& p) {
    return of_write(port_failure(p.port, fmt::format("port {}", p.port), p.text, p.cause));
}

/// Queries all ports for one group. A port that does not reply is a failure in the report. Returns an error if no port replies.
query_task<report> query_group(const counter_query& q, const counter_group& g) {
    const bool is_summable = can_sum(g, q);
    BOOST_OUTCOME_CO_TRY(const auto ports, co_await ports_of(q, is_summable));
    std::vector<query_task<group_reading>> queries;
    for (const u8 port : ports) queries.push_back(query_port(q, g, port));
    auto replies = co_await coro::when_all(std::move(queries));
    report result;
    std::vector<group_reading> answered;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (replies[i])
            for (const clearing_problem& p : replies[i].value().not_cleared) result.missing.push_back(not_cleared(p));
        if (replies[i]) answered.push_back(std::move(replies[i]).value());
        else result.missing.push_back(missing_counters_of(g, ports[i], replies[i].error()));
    }
    if (answered.empty()) co_return std::move(replies.front().error());
    const bool is_to_sum = q.how.all ? ports.front() != all_ports : ports.size() > 1;
    if (q.how.sums && q.how.reads && is_summable && is_to_sum) {
        result.text = format_sum(q, answered);
    } else {
        for (const group_reading& c : answered) result.text += text_of(q, c);
    }
    co_return result;
}

/// Queries all requested groups. Returns an error if no group could be read.
query_task<report> query_counters(session& in, std::optional<command_target> target, counter_request how) {
    const command_target place = target ? *target : this_port(in);
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, place));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in, path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().PerformanceGet<iba::ClassPortInfo>(to));
    const counter_query q{{to, info}, in, how};
    report all;
    bool is_any_answered = false;
    std::optional<mad::mad_error> first_error;
    for (const counter_group* g : how.groups) {
        auto result = co_await query_group(q, *g);
        if (result) {
            is_any_answered = true;
            all.text += result.value().text;
            all.missing.insert(all.missing.end(), result.value().missing.begin(), result.value().missing.end());
        } else {
            all.missing.push_back(
                failure_at(std::string(g->name), to_string(result.error()), cause_text(result.error())));
            if (!first_error) first_error = std::move(result).error();
        }
    }
    if (!is_any_answered) co_return std::move(*first_error);
    co_return all;
}

int run_perfquery(perfquery_settings s, const global_options& options) {
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    if (target && s.ports.empty())
        if (const auto port = take_port(*target)) s.ports = std::to_string(*port);
    const counter_request how = read_counter_request(s);
    return run_query(options, target ? &*target : nullptr,
                     [&](session& in) { return query_counters(in, target, how); });
}

} // namespace

command perfquery_command() {
    return {.name = "perfquery",
            .group = command_group::counters,
            .writes = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<perfquery_settings>();
                takes.option("target", s->target);
                takes.option("ports", s->ports);
                takes.option("mask", s->mask);
                s->counter_choice.declare(takes);
                takes.flag("-a,--all_ports", s->all);
                takes.flag("-l,--loop_ports", s->loop);
                const argument& after = takes.flag("-r,--reset_after_read", s->read_and_reset);
                takes.flag("-R,--Reset_only", s->reset_only).excludes(after);
                add_lid_option(takes, s->kind);
                add_guid_option(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_perfquery(*s, options); };
            }};
}

} // namespace ibtool
