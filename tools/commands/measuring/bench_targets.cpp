// SPDX-License-Identifier: MIT
// bench_targets.cpp - discovers or resolves the targets of bench, and queries each of them once.
#include "commands/measuring/bench_targets.hpp"

#include "comad.hpp"
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include "session/target.hpp"
#include "text/subnet_missing.hpp"

#include <optional>

namespace ibtool {
namespace {

/// Returns the LID of a node as a target.
command_target lid_of(const discovery::subnet& subnet, u32 node) {
    const discovery::node& n = subnet.nodes[node];
    const discovery::port& port = subnet.end_port({node, n.info.localPortNum});
    mad::IBPath path;
    if (port.info) path.DLID = port.info->LID;
    return command_target({path, std::nullopt});
}

coro::task<std::vector<command_target>> discover_targets(session& in, const target_choice& which, bool by_lid,
                                                         std::vector<discovery::failure>& problems) {
    const auto found = co_await discover_subnet(in);
    if (!found) refuse_silent_port(found.error(), in.options());
    const discovery::subnet& subnet = found.value();
    problems = all_missing(subnet);
    const selected_parts parts(which.selected, subnet, read_node_names(which.name_map));
    parts.require_nodes();
    for (const std::string& line : parts.notes()) print_message("{}", line);
    std::vector<command_target> targets;
    for (u32 i = 0; i < subnet.nodes.size(); ++i) {
        const discovery::node& n = subnet.nodes[i];
        if (!parts.node(i)) continue;
        if (which.has_kind() && !which.all && !(which.switches && n.is_switch()) &&
            !(which.cas && n.info.nodeType == iba::NodeType::CA))
            continue;
        const command_target target = by_lid ? lid_of(subnet, i) : command_target({n.route, std::nullopt});
        if (by_lid && mad::headers_of(target.path).DLID == iba::lid{})
            problems.push_back(missing_at(subnet, {i, 0}, "not measured: no LID"));
        else targets.push_back(target);
    }
    co_return targets;
}

/// Queries a target once. Returns its path if the reply is correct.
coro::task<mad::result<mad::any_path>> probe(session& in, const load& what, command_target target) {
    BOOST_OUTCOME_CO_TRY(mad::any_path path, co_await resolve(in, target));
    if (what.kind.mgmt_class != iba::MgmtClass::SubnLID) {
        BOOST_OUTCOME_CO_TRY(const mad::IBPath by_lid, co_await lid_routed(in, path));
        path = by_lid;
    }
    auto problem = co_await query_once(in.schedule(), what, path);
    if (problem) co_return std::move(*problem);
    co_return path;
}

/// Queries a target once. Sets `path` if the reply is correct, else adds a problem to the report.
coro::task<void> probe_one(session& in, bench_report& r, command_target target, std::optional<mad::any_path>& path) {
    try {
        auto found = co_await probe(in, r.what, target);
        if (found) path = found.value();
        else r.problems.push_back(failure_at({}, to_string(found.error()), plain_text(found.error())));
    } catch (const std::runtime_error& e) { // no node or several nodes have this name
        r.problems.push_back(failure_at({}, e.what()));
    }
}

coro::generator<coro::task<void>> probes(session& in, bench_report& r, const std::vector<command_target>& targets,
                                         std::vector<std::optional<mad::any_path>>& paths) {
    for (std::size_t i = 0; i < targets.size(); ++i) co_yield probe_one(in, r, targets[i], paths[i]);
}

} // namespace

coro::task<bool> find_targets(session& in, const target_choice& which, bench_report& r,
                              std::vector<command_target> targets) {
    if (which.discovers()) {
        const bool by_lid = which.by_lid || r.what.kind.mgmt_class != iba::MgmtClass::SubnLID;
        targets = co_await discover_targets(in, which, by_lid, r.problems);
    }
    std::vector<std::optional<mad::any_path>> paths(targets.size());
    co_await in.schedule().mqueue(probes(in, r, targets, paths));
    for (const auto& path : paths)
        if (path) r.what.targets.push_back(*path);
    co_return !r.what.targets.empty();
}

} // namespace ibtool
