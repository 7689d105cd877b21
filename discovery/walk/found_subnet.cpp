// SPDX-License-Identifier: MIT
// found_subnet.cpp - checks the replies of a discovery, and adds them to the subnet.
#include "found_subnet.hpp"

#include "smp_routing.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::IBDRPath;

bool is_same(const node& known, const NodeInfo& info) {
    return known.info.nodeType == info.nodeType && known.info.numPorts == info.numPorts && info.localPortNum > 0 &&
           info.localPortNum <= info.numPorts;
}

/// Returns why a node cannot be as it reports, for a message; empty if it can. `least_port`: the lowest port where a route may enter it.
std::string impossible_in(const NodeInfo& info, unsigned least_port) {
    if (info.nodeGUID == iba::guid{}) return "reports node GUID 0";
    if (info.nodeType != iba::NodeType::CA && info.nodeType != iba::NodeType::Switch &&
        info.nodeType != iba::NodeType::Router)
        return fmt::format("reports unknown node type {}", static_cast<unsigned>(info.nodeType));
    if (info.numPorts == 0) return "reports that it has no ports";
    if (info.localPortNum < least_port || info.localPortNum > info.numPorts)
        return fmt::format("reports local port {}, but its ports are {}..{}", info.localPortNum, least_port,
                           info.numPorts);
    return {};
}

/// Returns what is wrong with a node but does not prevent queries, for a message; empty if nothing is.
std::string odd_in(const NodeInfo& info) {
    if (info.portGUID == iba::guid{}) return "reports port GUID 0";
    constexpr unsigned most = 254; // as a port number 255 means all ports (IBA 16.1.3) or none (14.2.5.10)
    if (info.numPorts > most) return fmt::format("reports {} ports, but the maximum is {}", info.numPorts, most);
    return {};
}

} // namespace

void found_subnet::load(const subnet& known) {
    found_ = known;
    found_.failures.clear();
    for (const node& n : found_.nodes) {
        known_before_.insert(n.info.nodeGUID);
        ports_ += n.ports.size();
    }
    if (options_.progress) options_.progress->nodes.store(found_.nodes.size(), std::memory_order_relaxed);
}

port_ref found_subnet::disconnect(port_ref here) {
    port& p = found_.nodes[here.node].ports[here.port];
    const port_ref there = std::exchange(p.peer, {});
    p.fdr10 = p.fdr10_supported = false;
    if (!there) return there;
    port& other = found_.nodes[there.node].ports[there.port];
    other.peer = {};
    other.fdr10 = other.fdr10_supported = false;
    return there;
}

probe_result found_subnet::add_start(const NodeInfo& info, const IBDRPath& local) {
    const auto known = found_.by_guid.find(info.nodeGUID);
    if (known == found_.by_guid.end()) {
        const u32 added = add_node(info, local, 0);
        if (added == 0 && !found_.nodes[0].is_switch()) found_.start_port = info.localPortNum;
        const std::string impossible = impossible_in(info, info.nodeType == iba::NodeType::Switch ? 0 : 1);
        if (!impossible.empty()) note_oddity(info, local, "the local node " + impossible);
        return {.node = added, .is_new = true};
    }
    node& n = found_.nodes[known->second];
    if (n.info.nodeType != info.nodeType || n.info.numPorts != info.numPorts || info.localPortNum > info.numPorts) {
        contradict({known->second, info.localPortNum}, local,
                   "a different node at another local port has the same GUID as " + name_of(n));
        return {};
    }
    if (n.is_switch()) return {.node = known->second};
    n.ports[info.localPortNum].portGUID = info.portGUID;
    return {.node = known->second, .is_other_port = true};
}

probe_result found_subnet::add_neighbor(port_ref from, const NodeInfo& info, const IBDRPath& route) {
    const auto known = found_.by_guid.find(info.nodeGUID);
    if (known == found_.by_guid.end()) {
        const std::string impossible = impossible_in(info, 1);
        if (!impossible.empty()) {
            contradict(from, route, "the neighbor " + impossible);
            return {};
        }
        if (limits_.is_full(found_.nodes.size(), ports_)) return {};
        const u32 added = add_node(info, route, found_.nodes[from.node].hops + 1);
        connect(from, {added, info.localPortNum}, info.portGUID, route);
        return {.node = added, .is_new = true};
    }
    const u32 there = known->second;
    if (!is_same(found_.nodes[there], info)) {
        contradict(from, route, "the neighbor has the same GUID as another node, " + name_of(found_.nodes[there]),
                   info.nodeGUID);
        return {};
    }
    const bool is_new_link = connect(from, {there, info.localPortNum}, info.portGUID, route);
    const node& n = found_.nodes[there];
    const bool is_back = is_new_link && known_before_.erase(info.nodeGUID) > 0;
    const bool is_other_port = is_new_link && !n.is_switch() && (is_back || info.localPortNum != n.info.localPortNum);
    return {.node = there, .is_other_port = is_other_port, .is_back = is_back};
}

u32 found_subnet::add_node(const NodeInfo& info, const IBDRPath& route, unsigned hops) {
    const auto index = static_cast<u32>(found_.nodes.size());
    node& n = found_.nodes.emplace_back();
    n.info = info;
    n.route = with_key(route, info.portGUID, options_);
    n.hops = hops;
    n.ports.resize(std::max(info.numPorts, info.localPortNum) + 1u); // the NodeInfo of the local node is not checked
    if (n.is_switch()) {
        for (port& p : n.ports) p.portGUID = info.portGUID;
    } else {
        n.ports[info.localPortNum].portGUID = info.portGUID;
    }
    ports_ += n.ports.size();
    found_.by_guid.emplace(info.nodeGUID, index);
    if (std::string odd = odd_in(info); !odd.empty()) note_oddity(info, route, std::move(odd));
    if (options_.progress) options_.progress->nodes.store(found_.nodes.size(), std::memory_order_relaxed);
    return index;
}

// Returns true if the link is new, and both ends were free.
bool found_subnet::connect(port_ref a, port_ref b, iba::guid portGUID_b, const IBDRPath& route) {
    port& here = found_.nodes[a.node].ports[a.port];
    port& there = found_.nodes[b.node].ports[b.port];
    if (here.peer == b && there.peer == a) return false; // the queries from both ends crossed
    if (here.peer || there.peer) {
        reject_link(a, b, route);
        return false;
    }
    here.peer = b;
    there.peer = a;
    there.portGUID = portGUID_b;
    if (auto* progress = options_.progress)
        progress->links.store(progress->links.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return true;
}

void found_subnet::reject_link(port_ref a, port_ref b, const IBDRPath& route) {
    const node& n = found_.nodes[b.node];
    const port_ref first = n.ports[b.port].peer;
    if (found_.at(a).peer || !first) {
        contradict(
            a, route,
            fmt::format("connected to {}[{}], but this port was connected to another port earlier in this discovery",
                        name_of(n), b.port));
    } else {
        contradict(a, route,
                   fmt::format("two nodes have GUID {}: this neighbor and the neighbor of {}[{}]; or a cable "
                               "was moved during the discovery",
                               n.info.nodeGUID, name_of(found_.nodes[first.node]), first.port),
                   n.info.nodeGUID);
    }
}

void found_subnet::set(port_ref r, const PortInfo& info) {
    node& n = found_.nodes[r.node];
    n.ports[r.port].info = info;
    if (options_.from_lid != iba::lid{} && n.is_switch() == (r.port == 0)) lids_.add(r, info.LID, info.LMC);
}

void found_subnet::set(port_ref r, const iba::smp::MlnxExtPortInfo& info) {
    take_fdr10(found_.nodes[r.node].ports[r.port], info);
}

void found_subnet::set(u32 index, const SwitchInfo& info) { found_.nodes[index].switch_info = info; }

void found_subnet::set(u32 index, const NodeDescription& description) {
    found_.nodes[index].description = iba::smp::text(description);
}

u32 found_subnet::put_in_order_from(iba::guid start, u8 start_port) {
    const u32 reached = put_in_order(found_, found_.by_guid.at(start), start_port);
    for (node& n : found_.nodes) n.route = with_key(n.route, n.info.portGUID, options_);
    return reached;
}

subnet found_subnet::finish(std::vector<failure> failures) {
    found_.failures = std::move(failures);
    return std::move(found_);
}

void found_subnet::contradict(port_ref r, const IBDRPath& route, std::string text, iba::guid doubledGUID) {
    failures_.add_contradiction(found_.nodes[r.node].info.nodeGUID, r.port, route, std::move(text), doubledGUID);
}

void found_subnet::note_oddity(const NodeInfo& info, const IBDRPath& route, std::string text) {
    failures_.add({failure_kind::contradiction, {info.nodeGUID, 0, route}, std::move(text)});
}

} // namespace comad::discovery
