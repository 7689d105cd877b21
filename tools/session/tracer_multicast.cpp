// SPDX-License-Identifier: MIT
// tracer_multicast.cpp - finds the route of a multicast packet to one receiver by a breadth-first search in the group's tree.
#include "comad.hpp"
#include "session/queries.hpp"
#include "session/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace ibtool {

namespace {

/// A node in the tree, and its predecessor.
struct branch {
    hop by;
    mad::IBDRPath path;
    std::size_t parent;
};

route way_to(const std::vector<branch>& tree, std::size_t last) {
    route way{{}, {}, tree[last].path};
    for (; last != 0; last = tree[last].parent) way.hops.push_back(tree[last].by);
    std::reverse(way.hops.begin(), way.hops.end());
    way.from = tree.front().by.at;
    return way;
}

} // namespace

query_task<std::vector<unsigned>> tracer::group_ports(route_port at, mad::IBDRPath path, unsigned MLID, unsigned but) {
    constexpr unsigned first_mlid = 0xc000, mlids_per_block = 32, ports_per_mask = 16;
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in_.SubnGet<smp::SwitchInfo>(path));
    std::vector<unsigned> ports;
    const unsigned index = MLID - first_mlid;
    if (index >= info.multicastFDBCap) co_return ports;
    for (unsigned position = 0; position <= at.node.numPorts / ports_per_mask; ++position) {
        BOOST_OUTCOME_CO_TRY(const auto table, co_await in_.SubnGet<smp::MulticastForwardingTable>(
                                                   path, index / mlids_per_block | position << 28));
        for (unsigned bit = 0; bit < ports_per_mask; ++bit) {
            const unsigned port = position * ports_per_mask + bit;
            const bool forwards = table.portMaskBlock[index % mlids_per_block] >> bit & 1;
            if (!forwards || port == 0 || port > at.node.numPorts || port == but) continue;
            BOOST_OUTCOME_CO_TRY(const auto there, co_await in_.SubnGet<smp::PortInfo>(path, port));
            if (there.portPhysicalState == iba::PortPhysicalState::LinkUp) ports.push_back(port);
        }
    }
    co_return ports;
}

query_task<route> tracer::find_multicast(mad::IBDRPath path, route_port to, unsigned MLID) {
    BOOST_OUTCOME_CO_TRY(auto from, co_await query_place(path));
    if (from.node.portGUID == to.node.portGUID)
        throw std::runtime_error(
            fmt::format("the source and the destination are the same port of \"{}\"", from.called()));
    std::vector<branch> tree{{{0, std::move(from)}, path, 0}};
    std::set<comad::u64> switches;
    std::optional<mad::mad_error> silent; // an unresponsive receiver does not stop the search
    for (std::size_t i = 0; i < tree.size(); ++i) {
        if (tree.size() > in_.options().max_nodes)
            throw std::runtime_error(
                fmt::format("the destination is not reached after {} nodes; see --max-nodes", tree.size()));
        const route_port here = tree[i].by.at;
        if (here.node.portGUID == to.node.portGUID) co_return way_to(tree, i);
        if (here.is_switch() && !switches.insert(value(here.node.nodeGUID)).second)
            throw std::runtime_error(
                fmt::format("packets to lid {:#x} loop: they reach \"{}\" again", MLID, here.called()));
        if (!here.is_switch()) {
            if (i != 0) continue;
            mad::IBDRPath beyond = tree[i].path;
            BOOST_OUTCOME_CO_TRY(auto next, co_await out_of_end_port(here, beyond));
            tree.push_back({std::move(next), beyond, i});
            continue;
        }
        const unsigned came_by = i == 0 ? 0 : here.port_number;
        BOOST_OUTCOME_CO_TRY(const auto ports, co_await group_ports(here, tree[i].path, MLID, came_by));
        for (const unsigned out : ports) {
            if (tree[i].path.hopCount == mad::IBDRPath::max_hops) break;
            const mad::IBDRPath beyond = tree[i].path.extended(static_cast<comad::u8>(out));
            auto next = co_await through_cable(here, beyond, out);
            if (next) tree.push_back({std::move(next).value(), beyond, i});
            else if (!silent) silent.emplace(std::move(next.error()));
        }
    }
    if (silent) co_return std::move(*silent);
    throw std::runtime_error(
        fmt::format("packets to lid {:#x} from \"{}\" do not reach \"{}\"", MLID, tree[0].by.at.called(), to.called()));
}

} // namespace ibtool
