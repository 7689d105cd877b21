// SPDX-License-Identifier: MIT
// data_counters.cpp - ibdatacounts and ibdatacounters: print how much data and how many packets ports have sent and received, for one
// node or the whole subnet. Use 64-bit counters if the node has them.
#include "comad.hpp"
#include "command.hpp"
#include "session/queries.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/ibswportwatch_text.hpp"
#include "text/json.hpp"
#include <comad/counters/detail/read_counters.hpp>
#include <comad/counters/sweep.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace ibtool {
namespace {

using discovery::subnet;

/// The command line of ibdatacounts and ibdatacounters.
struct data_counters_settings {
    std::string target, port;
    target_options kind;
    bool port_by_port = false, json = false;
};

/// The counters of one port, or of all ports of a node together.
struct counted {
    performance_agent agent;
    u8 port = 0;
    counters::counter_values values;
    std::vector<discovery::failure> missing{}; ///< ports that are missing from the sum

    const counter_group& group() const {
        return agent.can().extended ? group_of<pm::PortCountersExt> : group_of<pm::PortCounters>;
    }
};

/// Returns the counters of data and packets sent and received.
counters::counter_set data_and_packets() {
    using enum counters::counter;
    return counters::counter_set().add(portXmitData).add(portRcvData).add(portXmitPkts).add(portRcvPkts);
}

std::string text_of(const counted& c) {
    return heading(c.agent, c.group(), c.port) + format_counters(c.values, data_and_packets());
}

nlohmann::ordered_json json_of(const counted& c, nlohmann::ordered_json line) {
    line["attribute"] = c.group().name;
    line["counters"] = counters_json(c.values, data_and_packets());
    return line;
}

// ---- one node --------------------------------------------------------------------------------------------------------

/// Queries the data counters of one port.
query_task<counted> query_port(session& in, performance_agent a, u8 port) {
    BOOST_OUTCOME_CO_TRY(const auto values,
                         co_await read_counters(in.schedule(), a.to, a.can(), port, data_and_packets()));
    co_return counted{a, port, values};
}

/// Returns the sum over the ports that reply; an error if no port replies.
query_task<counted> query_sum(session& in, performance_agent a, std::vector<u8> ports) {
    if (a.can().all_ports) co_return co_await query_port(in, a, all_ports);
    std::optional<counted> sum;
    std::vector<discovery::failure> missing;
    std::optional<mad::mad_error> first_error;
    for (const u8 port : ports) {
        auto one = co_await query_port(in, a, port);
        if (one) {
            if (sum) sum->values += one.value().values;
            else sum.emplace(counted{a, all_ports, one.value().values});
            continue;
        }
        missing.push_back(
            port_failure(port, fmt::format("port {}", port), to_string(one.error()), cause_text(one.error())));
        if (!first_error) first_error = std::move(one.error());
    }
    if (!sum) co_return std::move(*first_error); // set, because the list of ports is not empty
    sum->missing = std::move(missing);
    co_return std::move(*sum);
}

/// Returns the port to read by default: all ports of a switch; for other nodes the port that has the target's LID.
query_task<u8> default_port(session& in, mad::IBPath to) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(to));
    co_return node.nodeType == iba::NodeType::Switch ? all_ports : node.localPortNum;
}

/// Queries and formats the data counters of one port, or of all ports of a node.
query_task<report> query_node(session& in, std::optional<command_target> target, std::optional<u8> wanted, bool json) {
    const command_target place = target ? *target : this_port(in);
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, place));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in, path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().PerformanceGet<iba::ClassPortInfo>(to));
    const performance_agent agent{to, info};
    u8 port = wanted.value_or(all_ports);
    if (!wanted) {
        BOOST_OUTCOME_CO_TRY(port, co_await default_port(in, to));
    }
    std::vector<u8> ports;
    if (port == all_ports && !agent.can().all_ports) {
        BOOST_OUTCOME_CO_TRY(ports, co_await ports_with_counters(in, to));
    }
    auto query = port == all_ports ? query_sum(in, agent, std::move(ports)) : query_port(in, agent, port);
    BOOST_OUTCOME_CO_TRY(const auto counters_read, co_await std::move(query));
    report result;
    result.missing = counters_read.missing;
    result.text =
        json ? json_line(json_of(counters_read, {{"LID", value(to.DLID)}, {"port", port}})) : text_of(counters_read);
    co_return result;
}

int run_single(const data_counters_settings& s, const global_options& options) {
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    std::optional<u8> port;
    if (!s.port.empty()) port = static_cast<u8>(read_number(s.port, "the port", all_ports));
    return run_query(options, target ? &*target : nullptr,
                     [&](session& in) { return query_node(in, target, port, s.json); });
}

// ---- the whole subnet ------------------------------------------------------------------------------------------------

/// Reads the counters of all end ports of a subnet, and formats them.
class counting_task {
public:
    counting_task(session& in, const subnet& s, const data_counters_settings& how)
        : in_(in), subnet_(s), how_(how), sweeper_(in.schedule(), s, options()) {}

    coro::task<report> run() {
        const counters::sweep done = co_await sweeper_.run();
        write_report(done);
        co_return std::move(found_);
    }

private:
    counters::sweep_options options() const {
        counters::sweep_options o;
        o.wants = is_counted;
        o.counters = data_and_packets();
        if (how_.port_by_port) return o;
        o.at_once = counters::all_ports_rule::of_switches;
        o.is_too_much = [](const counters::reading&) { return false; };
        return o;
    }

    using values_by_place = std::map<std::pair<u32, u8>, const counters::counter_values*>; // key: node and port

    static values_by_place values_in(const counters::sweep& done) {
        values_by_place all;
        for (const auto* list : {&done.ports, &done.sums})
            for (const counters::reading& r : *list)
                if (r.valid) all.emplace(std::pair(r.where.node, r.where.port), &r.counters.counters);
        return all;
    }

    /// Returns one entry for each port, or one entry with their sum.
    std::vector<counted> counted_by(const discovery::end_port_ref& e, const values_by_place& values) const {
        const comad::iba::ClassPortInfo* const info = sweeper_.class_port_info(e.where.node);
        if (!info) return {};
        const performance_agent agent{e.path, *info};
        const auto whole = values.find({e.where.node, all_ports});
        if (whole != values.end()) return {{agent, all_ports, *whole->second}};
        std::vector<counted> all;
        for (const u8 port : e.ports) {
            const auto one = values.find({e.where.node, port});
            if (one == values.end()) continue;
            if (all.empty() || !sums(e)) all.push_back({agent, port, *one->second});
            else all[0].values += *one->second;
        }
        if (!all.empty() && sums(e)) all[0].port = all_ports;
        return all;
    }

    bool sums(const discovery::end_port_ref& e) const {
        return !how_.port_by_port && subnet_.nodes[e.where.node].is_switch();
    }

    void write_report(const counters::sweep& done) {
        const values_by_place values = values_in(done);
        std::set<u32> nodes, bad;
        std::size_t ports = 0;
        for (const discovery::end_port_ref& e : discovery::end_ports(subnet_)) {
            const bool is_first = nodes.insert(e.where.node).second;
            ports += e.ports.size();
            if (is_first && in_.options().verbosity && !how_.json)
                found_.text += fmt::format("\n{}\n", node_line("Checking", subnet_.nodes[e.where.node]));
            const std::vector<counted> all = counted_by(e, values);
            for (const counted& c : all)
                found_.text += how_.json ? json_line(json_of(c, place_json(subnet_, e, c.port))) : text_of(c);
            if (all.empty() && !e.ports.empty()) bad.insert(e.where.node);
        }
        for (const discovery::failure& g : done.failures) found_.missing.push_back(missing_of(subnet_, g));
        if (how_.json) found_.text += json_line({{"nodes", nodes.size()}, {"bad_nodes", bad.size()}, {"ports", ports}});
        else
            found_.text +=
                fmt::format("\n## Summary: {} nodes checked, {} bad nodes found\n##          {} ports checked\n",
                            nodes.size(), bad.size(), ports);
    }

    session& in_;
    const subnet& subnet_;
    const data_counters_settings& how_;
    counters::sweeper sweeper_;
    report found_;
};

coro::task<report> count(session& in, const subnet& s, const data_counters_settings& how) {
    counting_task all(in, s, how);
    co_return co_await all.run();
}

} // namespace

command ibdatacounts_command() {
    return {.name = "ibdatacounts", .group = command_group::counters, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<data_counters_settings>();
                takes.option("target", s->target);
                takes.option("port", s->port);
                add_lid_option(takes, s->kind);
                add_guid_option(takes, s->kind);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_single(*s, options); };
            }};
}

command ibdatacounters_command() {
    return {.name = "ibdatacounters", .group = command_group::counters, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<data_counters_settings>();
                takes.flag("--ports", s->port_by_port);
                takes.flag("--json", s->json);
                return [s](const global_options& options) {
                    return run_on_subnet(options,
                                         [&](session& in, const subnet& known) { return count(in, known, *s); });
                };
            }};
}

} // namespace ibtool
