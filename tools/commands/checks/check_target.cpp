// SPDX-License-Identifier: MIT
// check_target.cpp - ibchecknode, ibcheckport, ibcheckportstate, ibcheckportwidth, ibcheckerrs: check one node or port. Write nothing.
#include "comad.hpp"
#include "command.hpp"
#include "commands/checks/check_options.hpp"
#include "session/counter_queries.hpp"
#include "session/neighbor_port.hpp"
#include "session/subnet_queries.hpp"
#include "session/target.hpp"
#include "text/ibcheck_text.hpp"
#include "text/json.hpp"
#include <comad/counters/detail/read_counters.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <stdexcept>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;
using enum complaint::severity;

/// The checks of one of these commands, and its command line.
struct check_target_settings {
    std::string target, port;
    target_options kind;
    check_options how;
    port_checks checks;
};

/// Formats the results of checks as a report.
report evaluated(const std::vector<check_result>& results, std::vector<discovery::failure> missing,
                 const check_target_settings& s, const session& in) {
    report f;
    f.missing = std::move(missing);
    const text_style style = style_of(s.how, in.options());
    for (const check_result& v : results) {
        f.is_any_bad |= !v.is_good();
        f.text += s.how.json ? json_line(json_of(v)) : text_of(v, style);
    }
    return f;
}

// ---- a port and its neighbor -----------------------------------------------------------------------------------------

/// The part of the subnet that the check of a port needs: the node of the port and the neighbor.
struct scene {
    subnet s;
    port_ref port;
    unsigned LID = 0; ///< for messages
    u8 entry = 0;     ///< port at which the path to the target ends
    std::vector<discovery::failure> missing;
};

/// Reads a node and one of its ports into `s`. Without a port number, reads the port at which the path ends.
query_task<port_ref> read_port(session& in, subnet& s, mad::any_path path, std::optional<u8> number) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(path));
    const bool is_switch = node.nodeType == iba::NodeType::Switch;
    const u8 port = number.value_or(node.localPortNum);
    if (port > node.numPorts || (port == 0 && !is_switch))
        throw std::runtime_error(fmt::format("{} has no port {}; valid ports: {}..{}", node.nodeGUID, port,
                                             is_switch ? 0 : 1, node.numPorts));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::PortInfo>(path, port));
    discovery::node n;
    n.info = node;
    n.ports.resize(node.numPorts + 1u);
    n.ports[port].info = info;
    n.ports[port].portGUID = node.portGUID;
    if (is_switch && port != 0) {
        BOOST_OUTCOME_CO_TRY(n.ports[0].info, co_await in.SubnGet<smp::PortInfo>(path));
    }
    if (in.options().mlnx_ext_port_info && !in.options().by_sa && may_be_fdr10(n, port)) {
        auto more = co_await in.SubnGet<smp::MlnxExtPortInfo>(path, port);
        if (!more && !is_unsupported(more.error())) co_return std::move(more.error());
        if (more) take_fdr10(n.ports[port], more.value());
    }
    s.nodes.push_back(std::move(n));
    co_return port_ref{static_cast<u32>(s.nodes.size() - 1), port};
}

/// Reads the neighbor of the checked port into the scene, and returns its position there.
query_task<port_ref> read_other_end(session& in, scene& here, mad::any_path path) {
    const discovery::node& node = here.s.nodes[here.port.node];
    const iba::lid LID = here.s.end_port(here.port).info->LID;
    BOOST_OUTCOME_CO_TRY(const auto there, co_await other_end(in, path, node.info, LID, here.port.port));
    BOOST_OUTCOME_CO_TRY(const auto read, co_await read_port(in, here.s, there.path, there.port));
    co_return read;
}

/// Reads a port and, if requested, its neighbor. A neighbor that cannot be read is a failure in the scene.
query_task<scene> examine(session& in, mad::any_path path, std::optional<u8> port, bool with_other_end) {
    scene here;
    BOOST_OUTCOME_CO_TRY(here.port, co_await read_port(in, here.s, path, port));
    const auto& end = here.s.end_port(here.port).info;
    here.entry = here.s.nodes[here.port.node].info.localPortNum;
    const auto* by_lid = std::get_if<mad::IBPath>(&path);
    here.LID = by_lid ? value(by_lid->DLID) : end ? value(end->LID) : 0;
    if (!with_other_end || is_comparable(here.s, here.port)) co_return here;
    const bool has_sa = value(in.schedule().sa_path().DLID) != 0;
    discovery::failure m =
        failure_at(fmt::format("lid {} port {} is not compared with its neighbor", here.LID, here.port.port),
                   "no SA is available to query for the neighbor; give a directed route");
    if (has_sa || mad::directed(path)) {
        auto there = co_await read_other_end(in, here, path);
        if (there) {
            here.s.nodes[here.port.node].ports[here.port.port].peer = there.value();
            here.s.nodes[there.value().node].ports[there.value().port].peer = here.port;
            co_return here;
        }
        m.text = to_string(there.error());
        m.cause = plain_text(there.error());
    }
    here.missing.push_back(std::move(m));
    co_return here;
}

query_task<report> check_one_port(session& in, command_target target, const check_target_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    const u8 port = static_cast<u8>(read_number(s.port, "the port", 254));
    BOOST_OUTCOME_CO_TRY(auto here, co_await examine(in, path, port, s.checks.width || s.checks.speed));
    check_result v{check_result::subject::port,
                   here.LID,
                   port,
                   {},
                   check_port(here.s, here.port, s.checks),
                   here.s.nodes[here.port.node].info.nodeGUID};
    const bool is_switch = here.s.nodes[here.port.node].is_switch();
    if (s.checks.addresses && !is_switch && here.entry != port)
        v.complaints.push_back({error, fmt::format("localPortNum is {}, expected {} ", here.entry, port),
                                "localPortNum", fmt::to_string(here.entry), fmt::to_string(port)});
    co_return evaluated({v}, std::move(here.missing), s, in);
}

// ---- a node ----------------------------------------------------------------------------------------------------------

/// Returns whether the error means that the node did not reply.
bool is_silence(const mad::mad_error& e) { return e.code == mad::errc::timed_out; }

/// Compares the records of the SA with the replies of the node.
query_task<std::vector<complaint>> compare_with_sa(session& in, const scene& here, iba::lid LID) {
    std::vector<complaint> all;
    const smp::NodeInfo& node = here.s.nodes[here.port.node].info;
    using iba::sa::NodeRecord;
    const auto query = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(LID);
    auto record = co_await in.schedule().SubnAdmGet(query);
    if (!record) {
        if (record.error().code != mad::errc::class_status) co_return std::move(record.error());
        all.push_back({error, "the SA has no record of the node ", "NodeRecord", "none", "one"});
        co_return all;
    }
    const auto compare = [&](std::string_view what, iba::guid is, iba::guid expected) {
        if (is == expected) return;
        all.push_back({error, fmt::format("{} is {}, but {} in the record of the SA ", what, is, expected), what,
                       fmt::format("{}", is), fmt::format("{}", expected)});
    };
    compare("nodeGUID", node.nodeGUID, record.value().nodeInfo.nodeGUID);
    compare("portGUID", node.portGUID, record.value().nodeInfo.portGUID);
    mad::IBPath to;
    to.DLID = LID;
    auto way = co_await in.paths().resolve_path(to);
    if (!way && way.error().code != mad::errc::path_not_found) co_return std::move(way.error());
    if (!way) all.push_back({error, "the SA has no path to the node ", "PathRecord", "none", "one"});
    co_return all;
}

query_task<report> check_node(session& in, command_target target, const check_target_settings& s) {
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    const auto* by_lid = std::get_if<mad::IBPath>(&path);
    check_result v{check_result::subject::node, by_lid ? value(by_lid->DLID) : 0u, 0, {}, {}};
    auto seen = co_await examine(in, path, std::nullopt, false);
    if (!seen && !is_silence(seen.error())) co_return std::move(seen.error());
    std::vector<discovery::failure> missing;
    if (!seen) {
        v.complaints.push_back({error, "no reply ", "SMPNodeInfo", "none", "a reply"});
    } else {
        v.LID = seen.value().LID;
        v.nodeGUID = seen.value().s.nodes[seen.value().port.node].info.nodeGUID;
        const iba::lid base = seen.value().s.end_port(seen.value().port).info->LID;
        if (base == iba::lid{}) {
            v.complaints.push_back({warning, "Lid is not configured", "LID", "0", "a LID"});
        } else if (value(in.schedule().sa_path().DLID) != 0) {
            auto differences = co_await compare_with_sa(in, seen.value(), base);
            if (differences) v.complaints = std::move(differences).value();
            else
                missing.push_back(failure_at(fmt::format("lid {} is not compared with the SA", v.LID),
                                             to_string(differences.error()), plain_text(differences.error())));
        }
    }
    co_return evaluated({v}, std::move(missing), s, in);
}

// ---- counters --------------------------------------------------------------------------------------------------------

query_task<report> check_errors(session& in, command_target target, const check_target_settings& s) {
    const error_thresholds thresholds = read_thresholds(s.how.thresholds);
    BOOST_OUTCOME_CO_TRY(const auto path, co_await resolve(in, target));
    BOOST_OUTCOME_CO_TRY(const auto to, co_await lid_routed(in, path));
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.schedule().PerformanceGet<iba::ClassPortInfo>(to));
    BOOST_OUTCOME_CO_TRY(const auto description, co_await in.SubnGet<smp::NodeDescription>(to));
    const std::string name = text(description);
    const counters::capabilities can = counters::capabilities::of(info);
    const u8 wanted = s.port.empty() ? all_ports : static_cast<u8>(read_number(s.port, "the port", all_ports));
    std::vector<u8> ports{wanted};
    const auto result_of = [&](u8 port, const counters::counter_values& values) {
        return check_result{check_result::subject::errors, value(to.DLID), port, name,
                            check_counters(values, thresholds)};
    };
    if (wanted == all_ports) {
        if (can.all_ports) { // if the sum has no errors, no port has errors
            BOOST_OUTCOME_CO_TRY(const auto sum, co_await read_counters(in.schedule(), to, can, all_ports));
            const check_result v = result_of(all_ports, sum);
            if (v.is_good()) co_return evaluated({v}, {}, s, in);
        }
        BOOST_OUTCOME_CO_TRY(ports, co_await ports_with_counters(in, to));
    }
    std::vector<check_result> results;
    std::vector<discovery::failure> missing;
    std::optional<mad::mad_error> first_error;
    for (const u8 port : ports) {
        auto reply = co_await read_counters(in.schedule(), to, can, port);
        if (reply) {
            results.push_back(result_of(port, reply.value()));
            continue;
        }
        missing.push_back(port_failure(port, fmt::format("lid {} port {}", value(to.DLID), port),
                                       to_string(reply.error()), cause_text(reply.error())));
        if (!first_error) first_error = std::move(reply.error());
    }
    if (results.empty() && first_error) co_return std::move(*first_error);
    co_return evaluated(results, std::move(missing), s, in);
}

// ---- command lines ---------------------------------------------------------------------------------------------------

using target_check = query_task<report> (*)(session&, command_target, const check_target_settings&);

/// Declares the arguments of one of these commands, and returns its action.
action declare(arguments& takes, target_check check, std::shared_ptr<check_target_settings> s) {
    takes.option("target", s->target);
    add_target_options(takes, s->kind);
    add_check_options(takes, s->how);
    return [s, check](const global_options& options) {
        if (s->how.only_shows_thresholds) return show_thresholds(s->how);
        std::optional<command_target> target;
        if (!s->target.empty()) target = read_target(s->target, s->kind);
        return run_query(options, target ? &*target : nullptr,
                         [&](session& in) { return check(in, target ? *target : this_port(in), *s); });
    };
}

/// Declares the arguments of a command that checks one port, and returns its action.
action declare_port_check(arguments& takes, port_checks checks) {
    auto s = std::make_shared<check_target_settings>();
    s->checks = checks;
    action run = declare(takes, check_one_port, s);
    takes.option("port", s->port).required();
    return run;
}

} // namespace

command ibchecknode_command() {
    return {.name = "ibchecknode", .group = command_group::checks, .declare = [](arguments& takes) {
                return declare(takes, check_node, std::make_shared<check_target_settings>());
            }};
}
command ibcheckport_command() {
    return {.name = "ibcheckport", .group = command_group::checks, .declare = [](arguments& takes) {
                return declare_port_check(takes, {.state = true, .width = true, .speed = true, .addresses = true});
            }};
}
command ibcheckportstate_command() {
    return {.name = "ibcheckportstate", .group = command_group::checks, .declare = [](arguments& takes) {
                return declare_port_check(takes, {.state = true});
            }};
}
command ibcheckportwidth_command() {
    return {.name = "ibcheckportwidth", .group = command_group::checks, .declare = [](arguments& takes) {
                return declare_port_check(takes, {.width = true});
            }};
}
command ibcheckerrs_command() {
    return {.name = "ibcheckerrs", .group = command_group::checks, .declare = [](arguments& takes) {
                auto s = std::make_shared<check_target_settings>();
                action run = declare(takes, check_errors, s);
                takes.option("port", s->port);
                add_threshold_options(takes, s->how);
                return run;
            }};
}

} // namespace ibtool
