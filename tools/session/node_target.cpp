// SPDX-License-Identifier: MIT
// node_target.cpp - finds names of nodes in the NodeRecords of the SA, or in the discovered subnet.
#include "session/node_target.hpp"

#include "comad.hpp"
#include "session/report.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/query.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using comad::iba::sa::NodeRecord;

/// A node that the user may mean, with each port by which it can be reached.
struct named_node {
    struct end_port {
        u8 number; // 0: any port
        mad::any_path path;
    };
    std::string description;
    iba::guid nodeGUID{};
    bool is_switch = false;
    unsigned ports = 0;
    std::vector<end_port> ends;
};

/// Matches the whole description or its first words: `h-0001` matches `h-0001 HCA-1`, but not `h-00011`.
bool is_called(const std::string& description, const std::string& name) {
    return description.starts_with(name) && (description.size() == name.size() || description[name.size()] == ' ');
}

/// Returns the nodes with exactly this name; if there are none, those whose description starts with it.
std::vector<named_node> best_matches(std::vector<named_node> nodes, const std::string& name) {
    const auto is_exact = [&](const named_node& n) { return n.description == name; };
    if (std::ranges::any_of(nodes, is_exact)) std::erase_if(nodes, [&](const named_node& n) { return !is_exact(n); });
    return nodes;
}

// ---- by the SA ----

query_task<std::vector<NodeRecord>> node_records(session& in, iba::query<NodeRecord> query) {
    auto found = co_await in.schedule().SubnAdmGetTable<NodeRecord>(query);
    if (found) co_return std::move(found).value();
    if (comad::sa::is_no_records(found.error())) co_return std::vector<NodeRecord>{};
    co_return std::move(found.error());
}

std::vector<named_node> nodes_of(const std::vector<NodeRecord>& records, const std::string& name) {
    std::vector<named_node> nodes;
    for (const NodeRecord& r : records) {
        const std::string description = iba::smp::text(r.nodeDescription);
        if (!is_called(description, name) || value(r.LID) == 0) continue;
        auto known = std::ranges::find(nodes, r.nodeInfo.nodeGUID, &named_node::nodeGUID);
        if (known == nodes.end()) {
            const bool is_switch = r.nodeInfo.nodeType == iba::NodeType::Switch;
            nodes.push_back({description, r.nodeInfo.nodeGUID, is_switch, r.nodeInfo.numPorts, {}});
            known = std::prev(nodes.end());
        }
        mad::IBPath path;
        path.DLID = r.LID;
        known->ends.push_back({known->is_switch ? u8{0} : r.nodeInfo.localPortNum, path});
    }
    return nodes;
}

/// The SA compares whole descriptions. All nodes are queried only if none matches.
query_task<std::vector<named_node>> nodes_by_sa(session& in, std::string name) {
    iba::smp::NodeDescription wanted;
    auto exact = iba::query<NodeRecord>{};
    if (name.size() <= wanted.nodeString.size()) {
        std::ranges::copy(name, wanted.nodeString.begin());
        exact.where<&NodeRecord::nodeDescription>(wanted);
        BOOST_OUTCOME_CO_TRY(const auto records, co_await node_records(in, exact));
        auto nodes = nodes_of(records, name);
        if (!nodes.empty()) co_return nodes;
    }
    const auto all = iba::query<NodeRecord>{};
    BOOST_OUTCOME_CO_TRY(const auto records, co_await node_records(in, all));
    co_return nodes_of(records, name);
}

// ---- by a discovery ----

query_task<std::vector<named_node>> nodes_by_discovery(session& in, std::string name) {
    BOOST_OUTCOME_CO_TRY(const auto subnet, co_await discover_subnet(in));
    std::vector<named_node> nodes;
    for (const discovery::node& n : subnet.nodes)
        if (is_called(n.description, name))
            nodes.push_back({n.description, n.info.nodeGUID, n.is_switch(), n.info.numPorts, {{0, n.route}}});
    co_return nodes;
}

// ---- the selection ----

[[noreturn]] void refuse_none(const std::string& name) {
    throw std::runtime_error(
        fmt::format("no node is named {}; expected the name of a node, a LID (7), directed route (0,1,4), "
                    "GUID (0002:c903:0000:1491) or GID (fe80::2:c903:0:1491)",
                    iba::as_given(name)));
}

[[noreturn]] void refuse_several(const std::string& name, const std::vector<named_node>& nodes) {
    constexpr std::size_t most_named = 3;
    std::vector<std::string> candidates;
    for (const named_node& n : nodes) {
        if (candidates.size() == most_named) break;
        candidates.push_back(fmt::format("{} (0x{:016x})", iba::as_given(n.description), value(n.nodeGUID)));
    }
    throw std::runtime_error(fmt::format("{} matches {} nodes, such as {}; give the whole name, a LID or a port GUID",
                                         iba::as_given(name), nodes.size(), fmt::join(candidates, ", ")));
}

mad::any_path path_by_port(const named_node& node, const name_query& q) {
    if (!q.port || *q.port == 0) return node.ends.front().path;
    const std::string place = iba::as_given(fmt::format("{}/{}", q.name, *q.port));
    if (*q.port > node.ports)
        throw std::runtime_error(
            fmt::format("{}: {} has {} ports", place, iba::as_given(node.description), node.ports));
    if (node.is_switch) {
        if (q.uses_port) return node.ends.front().path;
        throw std::runtime_error(
            fmt::format("{}: this command has no use for the port of a switch; give the name without it", place));
    }
    for (const named_node::end_port& e : node.ends)
        if (e.number == 0 || e.number == *q.port) return e.path;
    throw std::runtime_error(fmt::format("{}: the subnet has no such port; is it down?", place));
}

} // namespace

query_task<mad::any_path> path_of_name(session& in, name_query q) {
    const mad::IBPath& SA = in.schedule().sa_path();
    const bool has_sa = value(in.local_port().LID) != 0 && (value(SA.DLID) != 0 || SA.has_grh);
    auto looking = has_sa ? nodes_by_sa(in, q.name) : nodes_by_discovery(in, q.name);
    BOOST_OUTCOME_CO_TRY(auto found, co_await std::move(looking));
    const std::vector<named_node> nodes = best_matches(std::move(found), q.name);
    if (nodes.empty()) refuse_none(q.name);
    if (nodes.size() > 1) refuse_several(q.name, nodes);
    co_return path_by_port(nodes.front(), q);
}

} // namespace ibtool
