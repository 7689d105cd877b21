// SPDX-License-Identifier: MIT
// data_counters.cpp - ibdatacounts, ibdatacounters: the data and packets that the ports of a node, or of the whole subnet, have
// sent and received, with 64 bits where these are counted so.
#include "comad.hpp"
#include "command.hpp"
#include "session/ask.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_queries.hpp"
#include "text/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

namespace ibtool {
namespace {

using discovery::subnet;

struct data_counters_settings {
    std::string target, port;
    target_options kind;
    bool port_by_port = false, json = false;
};

/// What a port, or all ports of a node together, have counted.
struct counted {
    performance_agent agent;
    u8 port = 0;
    std::vector<u8> bytes;
    std::vector<discovery::failure> missing; ///< ports whose numbers a sum lacks

    const counter_group& group() const { return data_counters(agent.info); }
};

std::string text_of(const counted& c) {
    std::string text = heading(c.agent, c.group(), c.port);
    std::istringstream lines(c.group().text(c.bytes, c.agent.info));
    for (std::string line; std::getline(lines, line);) {
        const std::string label = line.substr(0, line.find(':'));
        if (label == "PortXmitData" || label == "PortRcvData" || label == "PortXmitPkts" || label == "PortRcvPkts")
            text += line + '\n';
    }
    return text;
}

nlohmann::ordered_json json_of(const counted& c, nlohmann::ordered_json line) {
    line["attribute"] = c.group().name;
    const auto all = counters_json(c.agent, c.group(), c.bytes);
    for (const char* name : {"portXmitData", "portRcvData", "portXmitPkts", "portRcvPkts"})
        line["counters"][name] = all[name];
    return line;
}

query_task<counted> ask_port(session& in, performance_agent a, u8 port, coro::rpc_options options) {
    BOOST_OUTCOME_CO_TRY(auto bytes, co_await get_counters(in.schedule(), a.to, data_counters(a.info), port, options));
    co_return counted{a, port, std::move(bytes), {}};
}

/// The sum of those that answer; an error if none does.
query_task<counted> ask_sum(session& in, performance_agent a, std::vector<u8> ports, coro::rpc_options options) {
    if (a.can().all_ports) co_return co_await ask_port(in, a, all_ports, options);
    counted sum{a, all_ports, {}, {}};
    std::vector<std::vector<u8>> told;
    std::optional<mad::mad_error> first_error;
    for (const u8 port : ports) {
        auto one = co_await ask_port(in, a, port, options);
        if (one) {
            told.push_back(std::move(one.value().bytes));
            continue;
        }
        sum.missing.push_back(
            port_failure(port, fmt::format("port {}", port), to_string(one.error()), cause_text(one.error())));
        if (!first_error) first_error = std::move(one.error());
    }
    if (told.empty() && first_error) co_return std::move(*first_error);
    sum.bytes = sum_of(sum.group(), told);
    co_return sum;
}

// ---- one node --------------------------------------------------------------------------------------------------------

/// Which port is meant without one: of a switch all, else that of the target.
query_task<u8> default_port(session& in, mad::IBPath to) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(to));
    co_return node.nodeType == iba::NodeType::Switch ? all_ports : node.localPortNum;
}

query_task<report> ask_node(session& in, std::optional<command_target> target, std::optional<u8> wanted, bool json) {
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
    auto query = port == all_ports ? ask_sum(in, agent, std::move(ports), {}) : ask_port(in, agent, port, {});
    BOOST_OUTCOME_CO_TRY(const auto told_there, co_await std::move(query));
    report said;
    said.missing = told_there.missing;
    said.text = json ? json_line(json_of(told_there, {{"LID", value(to.DLID)}, {"port", port}})) : text_of(told_there);
    co_return said;
}

int run_single(const data_counters_settings& s, const global_options& options) {
    std::optional<command_target> target;
    if (!s.target.empty()) target = read_target(s.target, s.kind);
    std::optional<u8> port;
    if (!s.port.empty()) port = static_cast<u8>(read_number(s.port, "the port", all_ports));
    return run_query(options, target ? &*target : nullptr,
                     [&](session& in) { return ask_node(in, target, port, s.json); });
}

// ---- the whole subnet ------------------------------------------------------------------------------------------------

/// What an end port told: once, or for each of its ports.
struct reading_outcome {
    std::vector<counted> told;
    std::vector<discovery::failure> problems; ///< their places: within the node
};

class counting_task {
public:
    counting_task(session& in, const subnet& s, const data_counters_settings& how) : in_(in), subnet_(s), how_(how) {}

    coro::task<report> run() {
        end_ports_ = discovery::end_ports(subnet_);
        outcomes_.resize(end_ports_.size());
        co_await in_.schedule().mqueue(queries());
        write_report();
        co_return std::move(found_);
    }

private:
    coro::generator<coro::task<void>> queries() {
        for (std::size_t i = 0; i < end_ports_.size(); ++i) co_yield ask(end_ports_[i], outcomes_[i]);
    }

    coro::task<void> ask(const discovery::end_port_ref& e, reading_outcome& o) {
        o.problems = {
            failure_at({}, e.has_lid() ? "not queried" : "not queried: no LID")}; // unless this comes to its end
        if (!e.has_lid()) co_return;
        auto info = co_await in_.schedule().PerformanceGet<iba::ClassPortInfo>(e.path, 0, short_patience);
        if (!info) {
            o.problems = {problem_of(info.error())};
            co_return;
        }
        o.problems.clear();
        const performance_agent agent{e.path, info.value()};
        if (!how_.port_by_port && subnet_.nodes[e.where.node].is_switch()) {
            auto sum = co_await ask_sum(in_, agent, e.ports, short_patience);
            take(o, std::move(sum));
            co_return;
        }
        for (const u8 port : e.ports) {
            auto one = co_await ask_port(in_, agent, port, short_patience);
            take(o, std::move(one));
        }
    }

    static discovery::failure problem_of(const mad::mad_error& e) {
        return failure_at({}, to_string(e), cause_text(e));
    }

    discovery::failure placed(discovery::port_ref where, const discovery::failure& within) const {
        discovery::failure m = missing_at(subnet_, where, within.text, within.cause);
        if (within.where.name.empty()) return m;
        m.where.name += ": " + within.where.name;
        m.where.short_name += ' ' + within.where.name;
        if (within.where.port != 0) m.where.port = within.where.port;
        return m;
    }

    static void take(reading_outcome& o, mad::result<counted> answered) {
        if (!answered) {
            o.problems.push_back(problem_of(answered.error()));
            return;
        }
        o.problems.insert(o.problems.end(), answered.value().missing.begin(), answered.value().missing.end());
        o.told.push_back(std::move(answered).value());
    }

    void write_report() {
        std::set<u32> nodes, bad;
        std::size_t ports = 0;
        for (std::size_t i = 0; i < end_ports_.size(); ++i) {
            const discovery::end_port_ref& e = end_ports_[i];
            const reading_outcome& o = outcomes_[i];
            const bool is_first = nodes.insert(e.where.node).second;
            ports += e.ports.size();
            if (is_first && in_.options().verbosity && !how_.json)
                found_.text += fmt::format("\n{}\n", node_line("Checking", subnet_.nodes[e.where.node]));
            for (const counted& c : o.told)
                found_.text += how_.json ? json_line(json_of(c, place_json(subnet_, e, c.port))) : text_of(c);
            if (o.told.empty() && !o.problems.empty()) bad.insert(e.where.node);
            for (const discovery::failure& p : o.problems) found_.missing.push_back(placed(e.where, p));
        }
        if (how_.json) found_.text += json_line({{"nodes", nodes.size()}, {"bad_nodes", bad.size()}, {"ports", ports}});
        else
            found_.text +=
                fmt::format("\n## Summary: {} nodes checked, {} bad nodes found\n##          {} ports checked\n",
                            nodes.size(), bad.size(), ports);
    }

    session& in_;
    const subnet& subnet_;
    const data_counters_settings& how_;
    std::vector<discovery::end_port_ref> end_ports_;
    std::vector<reading_outcome> outcomes_; // of end_ports_
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
