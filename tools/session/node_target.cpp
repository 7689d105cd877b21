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

/// A node that the user may mean.
struct named_node {
    struct reachable_port {
        u8 number; // 0: the port of a switch
        mad::any_path path;
    };
    std::string description;
    iba::guid nodeGUID{};
    bool is_switch = false;
    unsigned ports = 0;
    std::vector<reachable_port> ends; ///< the ports by which it can be reached
};

/// The nodes with a name, in a subnet that may be known only in part.
struct named_nodes {
    std::vector<named_node> nodes;
    std::size_t failures = 0; ///< failures of the discovery, because of which nodes may be missing
};

/// Matches the whole description or its first words: `h-0001` matches `h-0001 HCA-1`, but not `h-00011`.
bool is_called(const std::string& description, const std::string& name) {
    return description.starts_with(name) && (description.size() == name.size() || description[name.size()] == ' ');
}

/// Returns the nodes with exactly this name; if no node has it, those whose description starts with it.
std::vector<named_node> best_matches(const named_nodes& found, const std::string& name) {
    std::vector<named_node> nodes = found.nodes;
    const auto is_exact = [&](const named_node& n) { return n.description == name; };
    const bool has_exact = std::ranges::any_of(nodes, is_exact);
    if (has_exact) std::erase_if(nodes, [&](const named_node& n) { return !is_exact(n); });
    if (!has_exact && found.failures > 0)
        throw std::runtime_error(fmt::format(
            "cannot determine which node is named {}: the discovery has {} failure{}; give the whole name, a LID or "
            "a port GUID",
            iba::as_given(name), found.failures, found.failures == 1 ? "" : "s"));
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
        if (!is_called(description, name)) continue;
        auto known = std::ranges::find(nodes, r.nodeInfo.nodeGUID, &named_node::nodeGUID);
        if (known == nodes.end()) {
            const bool is_switch = r.nodeInfo.nodeType == iba::NodeType::Switch;
            nodes.push_back({description, r.nodeInfo.nodeGUID, is_switch, r.nodeInfo.numPorts, {}});
            known = std::prev(nodes.end());
        }
        if (value(r.LID) == 0) continue; // see path_by_port()
        mad::IBPath path;
        path.DLID = r.LID;
        known->ends.push_back({known->is_switch ? u8{0} : r.nodeInfo.localPortNum, path});
    }
    return nodes;
}

/// Finds nodes by the SA. The SA compares whole descriptions, so all nodes are queried only if none matches.
query_task<named_nodes> nodes_by_sa(session& in, std::string name) {
    iba::smp::NodeDescription wanted;
    auto exact = iba::query<NodeRecord>{};
    if (name.size() <= wanted.nodeString.size()) {
        std::ranges::copy(name, wanted.nodeString.begin());
        exact.where<&NodeRecord::nodeDescription>(wanted);
        BOOST_OUTCOME_CO_TRY(const auto records, co_await node_records(in, exact));
        auto nodes = nodes_of(records, name);
        if (!nodes.empty()) co_return named_nodes{std::move(nodes)};
    }
    const auto all = iba::query<NodeRecord>{};
    BOOST_OUTCOME_CO_TRY(const auto records, co_await node_records(in, all));
    co_return named_nodes{nodes_of(records, name)};
}

// ---- by a discovery ----

/// Returns a route to each port of the node that has a neighbor: the route that the discovery used, and routes through the neighbors of
/// the other ports.
std::vector<named_node::reachable_port> ends_of(const discovery::subnet& subnet, const discovery::node& n) {
    const u8 entered = n.is_switch() ? u8{0} : n.info.localPortNum;
    std::vector<named_node::reachable_port> ends{{entered, n.route}};
    for (unsigned p = 1; !n.is_switch() && p < n.ports.size(); ++p) {
        const discovery::port_ref peer = n.ports[p].peer;
        if (p == entered || !peer) continue;
        if (auto route = route_beyond(subnet, peer, subnet.nodes[peer.node].route, iba::lid{}))
            ends.push_back({static_cast<u8>(p), *route});
    }
    return ends;
}

// Finds nodes by a discovery. It uses no cache, because a cache may be older than the names, and a command may write to the node.
query_task<named_nodes> nodes_by_discovery(session& in, std::string name) {
    const auto found = co_await discover_subnet(in, nullptr, subnet_source::fabric_without_cache);
    if (!found) refuse_silent_port(found.error(), in.options());
    const discovery::subnet& subnet = found.value();
    named_nodes all{{}, subnet.failures.size()};
    for (const discovery::node& n : subnet.nodes)
        if (is_called(n.description, name))
            all.nodes.push_back({n.description, n.info.nodeGUID, n.is_switch(), n.info.numPorts, ends_of(subnet, n)});
    co_return all;
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

[[noreturn]] void refuse_without_port(const named_node& node) {
    std::vector<unsigned> numbers;
    for (const named_node::reachable_port& e : node.ends) numbers.push_back(e.number);
    throw std::runtime_error(fmt::format("{} has several ports ({}); give one of them, such as {}",
                                         iba::as_given(node.description), fmt::join(numbers, ", "),
                                         iba::as_given(fmt::format("{}/{}", node.description, numbers[0]))));
}

mad::any_path path_by_port(const named_node& node, const name_query& q) {
    if (node.ends.empty())
        throw std::runtime_error(
            fmt::format("{} has no LID: no subnet manager has configured it; give a directed route",
                        iba::as_given(node.description)));
    if (!q.port || *q.port == 0) {
        if (node.ends.size() > 1) refuse_without_port(node);
        return node.ends.front().path;
    }
    const std::string place = iba::as_given(fmt::format("{}/{}", q.name, *q.port));
    if (*q.port > node.ports)
        throw std::runtime_error(
            fmt::format("{}: {} has {} ports", place, iba::as_given(node.description), node.ports));
    if (node.is_switch) {
        if (q.uses_port) return node.ends.front().path;
        throw std::runtime_error(fmt::format(
            "{}: this command cannot take the port of a switch from the name; give the name without it, and "
            "the port as its own argument if there is one",
            place));
    }
    for (const named_node::reachable_port& e : node.ends)
        if (e.number == *q.port) return e.path;
    throw std::runtime_error(fmt::format("{}: the port is not connected to this subnet; check its state", place));
}

} // namespace

query_task<mad::any_path> path_of_name(session& in, name_query q) {
    const mad::IBPath& SA = in.schedule().sa_path();
    const bool has_sa = value(in.local_port().LID) != 0 && (value(SA.DLID) != 0 || SA.has_grh);
    auto looking = has_sa ? nodes_by_sa(in, q.name) : nodes_by_discovery(in, q.name);
    BOOST_OUTCOME_CO_TRY(const auto found, co_await std::move(looking));
    const std::vector<named_node> nodes = best_matches(found, q.name);
    if (nodes.empty()) refuse_none(q.name);
    if (nodes.size() > 1) refuse_several(q.name, nodes);
    co_return path_by_port(nodes.front(), q);
}

} // namespace ibtool
