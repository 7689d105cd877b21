// SPDX-License-Identifier: MIT
// subnet_builder.cpp - what the answers mean.
#include "subnet_builder.hpp"

#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/walk/node_sequence.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::IBDRPath;

bool is_up(const PortInfo& info) { return info.portPhysicalState == iba::PortPhysicalState::LinkUp; }

bool is_same(const node& known, const NodeInfo& info) {
    return known.info.nodeType == info.nodeType && known.info.numPorts == info.numPorts && info.localPortNum > 0 &&
           info.localPortNum <= info.numPorts;
}

/// What is true of no node; empty: nothing. `least_port`: where it may be entered.
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

/// The same of what does not keep it from being asked.
std::string doubtful_in(const NodeInfo& info) {
    if (info.portGUID == iba::guid{}) return "reports port GUID 0";
    constexpr unsigned most = 254; // as a port number 255 means all ports (IBA 16.1.3) or none (14.2.5.10)
    if (info.numPorts > most) return fmt::format("reports {} ports, but the maximum is {}", info.numPorts, most);
    return {};
}

// A switch: its ports first, because what is behind them depends on it; then port 0, SwitchInfo, NodeDescription.
// Another node: the port we came by, NodeDescription.
unsigned steps_of(const node& n) { return n.is_switch() ? n.info.numPorts + 3u : 2u; }

} // namespace

// ---- how long, and how much -----------------------------------------------------------------------------------------

void subnet_builder::start_clock(mad::time_point now) {
    const auto lock = guard();
    if (!ends_ && options_.max_time.count() > 0 && options_.max_time < mad::time_point::max() - now)
        ends_ = now + options_.max_time;
}

std::optional<mad::time_point> subnet_builder::end() const {
    const auto lock = guard();
    return ends_;
}

void subnet_builder::ends_at(mad::time_point end) {
    const auto lock = guard();
    ends_ = end;
}

mad::duration subnet_builder::time_left(mad::time_point now) const {
    const auto lock = guard();
    return ends_ ? std::max(*ends_ - now, mad::duration{0}) : mad::duration::max();
}

void subnet_builder::note_time_over() {
    const auto lock = guard();
    note_limit(fmt::format("stopped at the time limit of {} s", mad::in_seconds(options_.max_time)));
}

bool subnet_builder::lacks_memory() {
    if (!options_.memory_is_short || !options_.memory_is_short->load(std::memory_order_relaxed)) return false;
    note_limit(fmt::format("stopped at {} nodes: memory is low", found_.nodes.size()));
    return true;
}

// There is another node. Links between those that are known are still asked for.
bool subnet_builder::is_full() {
    const bool has_all_nodes = found_.nodes.size() >= options_.max_nodes, has_all_ports = ports_ >= options_.max_ports;
    if (has_all_nodes)
        note_limit(fmt::format("not all nodes were discovered: the limit is {} nodes", options_.max_nodes));
    else if (has_all_ports)
        note_limit(fmt::format("not all nodes were discovered: {} nodes have {} ports, and the limit is {} ports",
                               found_.nodes.size(), ports_, options_.max_ports));
    return has_all_nodes || has_all_ports;
}

// The first one counts: later ones follow from it.
void subnet_builder::note_limit(std::string text) {
    if (limit_.empty()) limit_ = std::move(text);
}

// ---- what is known before it begins --------------------------------------------------------------------------------

bool subnet_builder::is_start_of(const subnet& known, const NodeInfo& info) const {
    const NodeInfo& was = known.nodes.front().info;
    const bool is_same_node =
        was.nodeGUID == info.nodeGUID && was.nodeType == info.nodeType && was.numPorts == info.numPorts;
    return is_same_node && known.start_port == (known.nodes.front().is_switch() ? 0 : info.localPortNum);
}

void subnet_builder::begin_with(const subnet& known, std::span<const port_ref> doubtful) {
    found_ = known;
    found_.failures.clear();
    readings_.assign(found_.nodes.size(), {.next_step = ~0u});
    for (const node& n : found_.nodes) {
        known_before_.insert(n.info.nodeGUID);
        ports_ += n.ports.size();
    }
    if (options_.progress) options_.progress->nodes.store(found_.nodes.size(), std::memory_order_relaxed);
    for (const port_ref r : doubtful) {
        if (r.port != 0) {
            doubt_port(r);
            continue;
        }
        const node& n = found_.nodes[r.node];
        left_.push_back({topic::description, n.info.nodeGUID, 0, left_by::doubt});
        if (n.is_switch()) left_.push_back({topic::switch_info, n.info.nodeGUID, 0, left_by::doubt});
        for (unsigned p = 0; p < n.ports.size(); ++p) {
            if (n.is_switch() && p > 0) doubt_port({r.node, static_cast<u8>(p)});
            else if (n.is_switch() || n.ports[p].info)
                left_.push_back({topic::port, n.info.nodeGUID, static_cast<u8>(p), left_by::doubt});
        }
    }
    // Nobody is asked twice for one port.
    const auto key = [](const remaining_query& q) { return std::tuple(q.nodeGUID, q.what, q.port); };
    std::sort(left_.begin(), left_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    left_.erase(std::unique(left_.begin(), left_.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                left_.end());
}

// Both ends of its link: which of them a way leads to, is not known yet. A port of a CA is asked when it is met again.
void subnet_builder::doubt_port(port_ref here) {
    port& p = found_.nodes[here.node].ports[here.port];
    const port_ref there = std::exchange(p.peer, {});
    if (!p.info && !there && !found_.nodes[here.node].is_switch()) return;
    p.fdr10 = p.fdr10_supported = false;
    if (found_.nodes[here.node].is_switch())
        left_.push_back({topic::port, found_.nodes[here.node].info.nodeGUID, here.port, left_by::doubt});
    if (!there) return;
    found_.nodes[there.node].ports[there.port].peer = {};
    doubt_port(there);
}

// ---- who is there --------------------------------------------------------------------------------------------------

// Several rails may begin at one node, by the same port or by another.
subnet_builder::meeting subnet_builder::begin(const NodeInfo& info, const IBDRPath& local, const asker& who) {
    const auto lock = guard();
    const auto known = found_.by_guid.find(info.nodeGUID);
    if (known == found_.by_guid.end()) {
        const meeting added = add_node(info, local, 0, who);
        if (added.node == 0 && !found_.nodes[0].is_switch()) found_.start_port = info.localPortNum;
        const bool is_switch = info.nodeType == iba::NodeType::Switch;
        const std::string impossible = impossible_in(info, is_switch ? 0 : 1);
        if (!impossible.empty()) doubt(info, local, "the local node " + impossible);
        return added;
    }
    const node& n = found_.nodes[known->second];
    if (n.info.nodeType != info.nodeType || n.info.numPorts != info.numPorts || info.localPortNum > info.numPorts) {
        contradict({known->second, info.localPortNum}, local,
                   "a different node at another local port has the same GUID as " + name_of(n));
        return {};
    }
    if (n.is_switch()) return {known->second, help(known->second, who), false};
    found_.nodes[known->second].ports[info.localPortNum].portGUID = info.portGUID;
    return {known->second, 0, true};
}

subnet_builder::meeting subnet_builder::meet(port_ref from, const NodeInfo& info, const IBDRPath& route,
                                             const asker& who) {
    const auto lock = guard();
    const auto known = found_.by_guid.find(info.nodeGUID);
    if (known == found_.by_guid.end()) {
        const std::string impossible = impossible_in(info, 1);
        if (!impossible.empty()) {
            contradict(from, route, "the neighbor " + impossible);
            return {};
        }
        if (is_full()) return {};
        const meeting added = add_node(info, route, found_.nodes[from.node].hops + 1, who);
        connect(from, {added.node, info.localPortNum}, info.portGUID, route);
        return added;
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
    return {there, help(there, who), is_other_port, is_back};
}

subnet_builder::meeting subnet_builder::add_node(const NodeInfo& info, const IBDRPath& route, unsigned hops,
                                                 const asker& who) {
    const auto index = static_cast<u32>(found_.nodes.size());
    node& n = found_.nodes.emplace_back();
    n.info = info;
    n.route = with_key(route, info.portGUID);
    n.hops = hops;
    n.ports.resize(std::max(info.numPorts, info.localPortNum) + 1u); // where a discovery begins, that is not checked
    if (n.is_switch()) {
        for (port& p : n.ports) p.portGUID = info.portGUID;
    } else {
        n.ports[info.localPortNum].portGUID = info.portGUID;
    }
    ports_ += n.ports.size();
    found_.by_guid.emplace(info.nodeGUID, index);
    if (std::string doubtful = doubtful_in(info); !doubtful.empty()) doubt(info, route, std::move(doubtful));
    if (options_.progress) options_.progress->nodes.store(found_.nodes.size(), std::memory_order_relaxed);
    const unsigned readers =
        options_.follows ? 1 : std::min(steps_of(n), who.most_readers); // the description comes first
    readings_.push_back({.readers = readers, .latest_rail = who.rail});
    return {index, readers, false};
}

// A rail that came to a node of another's takes part in reading it if it has nothing else to do: so it gets ports to go on
// by, and rails that begin close to each other share what is behind the first switch.
unsigned subnet_builder::help(u32 index, const asker& who) {
    reading& r = readings_[index];
    const unsigned steps = steps_of(found_.nodes[index]);
    if (options_.follows || !who.is_idle || r.latest_rail == who.rail || r.given_up || r.timeouts_in_a_row > 0 ||
        r.next_step >= steps)
        return 0;
    const unsigned readers = std::min(steps - r.next_step, who.most_readers);
    r.latest_rail = who.rail;
    r.readers += readers;
    return readers;
}

// True if the link is new and both ends are free for it.
bool subnet_builder::connect(port_ref a, port_ref b, iba::guid portGUID_b, const IBDRPath& route) {
    port& here = found_.nodes[a.node].ports[a.port];
    port& there = found_.nodes[b.node].ports[b.port];
    if (here.peer == b && there.peer == a) return false; // both ends were asked at once
    if (here.peer || there.peer) {
        const node& n = found_.nodes[b.node];
        const port_ref first = there.peer;
        if (here.peer || !first) {
            contradict(a, route,
                       fmt::format(
                           "connected to {}[{}], but this port was connected to another port earlier in this discovery",
                           name_of(n), b.port));
        } else {
            contradict(a, route,
                       fmt::format("two nodes have GUID {}: this neighbor and the neighbor of {}[{}]; or a cable "
                                   "was moved during the discovery",
                                   n.info.nodeGUID, name_of(found_.nodes[first.node]), first.port),
                       n.info.nodeGUID);
        }
        return false;
    }
    here.peer = b;
    there.peer = a;
    there.portGUID = portGUID_b;
    if (auto* progress = options_.progress)
        progress->links.store(progress->links.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return true;
}

bool subnet_builder::is_open(const smp_query& q) {
    const auto lock = guard();
    const node& n = found_.nodes[q.node];
    if (n.ports[q.port].peer || is_ending()) return false;
    if (options_.follows && !(*options_.follows)(found_, {q.node, q.port})) return false;
    if (!is_too_far({q.node, q.port}, q.route)) return true;
    left_.push_back({topic::neighbour, n.info.nodeGUID, q.port, left_by::distance});
    return false;
}

// What is behind the port. With several rails each has its own distance, that of its route.
bool subnet_builder::is_too_far(port_ref here, const IBDRPath& route) const {
    const unsigned hops = shared_ ? route.hopCount : found_.nodes[here.node].hops;
    return hops >= options_.max_hops || !route_beyond(found_, here, route, options_.from_lid);
}

// ---- what they are -------------------------------------------------------------------------------------------------

std::optional<smp_query> subnet_builder::next_step(u32 index, const IBDRPath& route) {
    const auto lock = guard();
    const node& n = found_.nodes[index];
    reading& r = readings_[index];
    // Until a silence is explained, the request that is still under way is enough.
    const bool is_enough = r.timeouts_in_a_row > 0 && r.readers > 1;
    if (r.next_step >= steps_of(n) || r.given_up || is_enough || is_ending()) {
        if (--r.readers == 0 && options_.found) options_.found->put(n);
        return std::nullopt;
    }
    const unsigned steps = steps_of(n);
    const unsigned step = options_.follows ? (r.next_step++ + steps - 1) % steps : r.next_step++; // the last one first
    const auto ask = [&](topic what, unsigned port) {
        return smp_query{what, index, static_cast<u8>(port), route, r.is_second};
    };
    if (!n.is_switch()) return step == 0 ? ask(topic::port, n.info.localPortNum) : ask(topic::description, 0);
    const unsigned last_port = n.info.numPorts;
    if (options_.from_lid != iba::lid{} && step <= last_port) return ask(topic::port, step); // port 0 has the LID
    if (step < last_port) return ask(topic::port, step + 1);
    if (step == last_port) return ask(topic::port, 0);
    return ask(step == last_port + 1 ? topic::switch_info : topic::description, 0);
}

subnet_builder::port_state subnet_builder::take(u32 index, u8 number, const PortInfo& info, bool is_start) {
    const auto lock = guard();
    readings_[index].timeouts_in_a_row = 0;
    const node& n = found_.nodes[index];
    port& p = found_.nodes[index].ports[number];
    p.info = info;
    if (options_.from_lid != iba::lid{} && n.is_switch() == (number == 0))
        lids_.add({index, number}, info.LID, info.LMC);
    if (number == 0 || !is_up(info)) return {false, false};
    return {(n.is_switch() || is_start) && !p.peer, options_.mlnx_ext_port_info && may_be_fdr10(n, number)};
}

std::vector<u8> subnet_builder::hiding_ports(u32 index, u8 number, bool was_understanding) {
    using hiding = reading::hiding;
    const auto lock = guard();
    const node& n = found_.nodes[index];
    reading& r = readings_[index];
    const auto hides = [&](u8 port) {
        const auto &here = n.ports[port].info, &end = found_.end_port({index, port}).info;
        return here && end && is_up(*here) && hides_extended_speeds(*end, *here);
    };
    if (was_understanding) r.hides = hides(number) ? hiding::nothing : hiding::something;
    std::vector<u8> ports;
    if (r.hides == hiding::nothing || r.hides == hiding::asked) return ports;
    // Of nearly all ports there is nothing to do, and the others were looked at when they came: but before port 0 nobody knew.
    if (number != 0 && !was_understanding && !hides(number)) return ports;
    for (unsigned p = 1; p < n.ports.size(); ++p) {
        if (r.asked_again[p] || !hides(static_cast<u8>(p))) continue;
        r.asked_again[p] = true;
        ports.push_back(static_cast<u8>(p));
        if (r.hides != hiding::unknown) continue;
        r.hides = hiding::asked;
        break;
    }
    return ports;
}

void subnet_builder::take(u32 index, u8 number, const iba::smp::MlnxExtPortInfo& info) {
    const auto lock = guard();
    readings_[index].timeouts_in_a_row = 0;
    take_fdr10(found_.nodes[index].ports[number], info);
}

void subnet_builder::take(u32 index, const SwitchInfo& info) {
    const auto lock = guard();
    readings_[index].timeouts_in_a_row = 0;
    found_.nodes[index].switch_info = info;
}

void subnet_builder::take(u32 index, const NodeDescription& description) {
    const auto lock = guard();
    readings_[index].timeouts_in_a_row = 0;
    found_.nodes[index].description = iba::smp::text(description);
}

IBDRPath subnet_builder::path_to(u32 index, u8 number, const IBDRPath& route) const {
    if (!options_.keys) return with_key(route, {});
    const auto lock = guard();
    const node& n = found_.nodes[index];
    const iba::guid portGUID = n.ports[number].portGUID;
    return with_key(route, portGUID != iba::guid{} ? portGUID : n.info.portGUID);
}

IBDRPath subnet_builder::path_beyond(const smp_query& q) const {
    const auto lock = guard();
    IBDRPath route = route_beyond(found_, {q.node, q.port}, q.route, options_.from_lid).value_or(IBDRPath{});
    if (!options_.keys) return with_key(route, {});
    const iba::guid portGUID = found_.nodes[q.node].ports[q.port].portGUID;
    route.MKey = options_.keys->beyond(mad::key_kind::MKey, portGUID, q.port);
    return route;
}

bool subnet_builder::trusts(way by) const { return ways_[static_cast<std::size_t>(by)] != experience::bad; }

// A link that trained again has LIDs at both ends, but before a subnet manager has activated it no way by LID leads over it.
iba::lid subnet_builder::leading_lid(port_ref at) const {
    const node& n = found_.nodes[at.node];
    const port_ref in_front = n.ports[n.is_switch() ? n.info.localPortNum : at.port].peer;
    const auto& link = in_front ? found_.at(in_front).info : n.ports[at.port].info;
    return link && link->portState == iba::PortState::Active ? found_.lid_at(at) : iba::lid{};
}

subnet_builder::routed_path subnet_builder::best_path(const smp_query& q, const IBDRPath& directed) const {
    if (options_.from_lid == iba::lid{} || q.is_second) return {way::directed, directed};
    const auto lock = guard();
    const auto with_key_of = [&](auto path) {
        path.MKey = directed.MKey;
        return path;
    };
    const auto from_lid = [&](port_ref in_front) -> routed_path {
        const bool has_switch_between = in_front && found_.nodes[in_front.node].hops > 0;
        const iba::lid LID = has_switch_between ? leading_lid(in_front) : iba::lid{};
        if (LID == iba::lid{} || !trusts(way::from_lid)) return {way::directed, directed};
        return {way::from_lid, with_key_of(IBDRPath::from_lid(LID, in_front.port, options_.from_lid))};
    };
    if (q.what == topic::neighbour) return from_lid({q.node, q.port});
    const node& n = found_.nodes[q.node];
    const u8 entry = n.is_switch() || q.port == 0 ? n.info.localPortNum : q.port;
    const iba::lid LID = n.hops > 0 ? leading_lid({q.node, entry}) : iba::lid{};
    if (LID == iba::lid{} || !trusts(way::by_lid)) return from_lid(n.ports[entry].peer);
    mad::IBPath path;
    path.DLID = LID;
    path.SLID = options_.from_lid;
    return {way::by_lid, with_key_of(path)};
}

void subnet_builder::answered_by(way by) {
    if (by == way::directed) return;
    const auto lock = guard();
    ways_[static_cast<std::size_t>(by)] = experience::good;
}

void subnet_builder::failed_by(way by) {
    const auto lock = guard();
    experience& so_far = ways_[static_cast<std::size_t>(by)];
    if (so_far == experience::none) so_far = experience::bad;
}

bool subnet_builder::is_directed_next(way by) const {
    const auto lock = guard();
    return !asks_twice_ || ways_[static_cast<std::size_t>(by)] != experience::good;
}

// `port`: the one that it leads to; zero: still unknown.
IBDRPath subnet_builder::with_key(IBDRPath route, iba::guid port) const {
    route.MKey = options_.keys ? options_.keys->of(mad::key_kind::MKey, port) : 0;
    return route;
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------

void subnet_builder::failed(const smp_query& q, const mad::mad_error& e, const IBDRPath& went, std::string_view what) {
    const auto lock = guard();
    const iba::guid nodeGUID = found_.nodes[q.node].info.nodeGUID;
    if (e.code == mad::errc::cancelled) return; // said once, at the end
    if (shared_ && kind_of(e) == failure_kind::send_failed) {
        left_.push_back({q.what, nodeGUID, q.port, left_by::failure});
        return;
    }
    const bool is_behind = q.what == topic::neighbour;
    const bool comes_again = asks_twice_ && !q.is_second && e.code == mad::errc::timed_out;
    if (comes_again) left_.push_back({q.what, nodeGUID, q.port, left_by::silence});
    else add_failure(failure_of(q, e, went, what), is_behind);
    if (is_behind || e.code != mad::errc::timed_out) return;
    // Asking a dead node for each of its ports would cost seconds for each.
    reading& r = readings_[q.node];
    if (++r.timeouts_in_a_row < 2 || r.given_up || r.next_step >= steps_of(found_.nodes[q.node])) return;
    r.given_up = true;
    if (comes_again) {
        left_.push_back({topic::node, nodeGUID, 0, left_by::silence, r.next_step});
        return;
    }
    add_failure({failure_kind::timeout, {nodeGUID, 0, went}, "the node stopped replying and was not queried further"},
                false);
}

failure subnet_builder::failure_of(const smp_query& q, const mad::mad_error& e, const IBDRPath& went,
                                   std::string_view what) const {
    std::string cause = cause_text(e);
    if (q.what == topic::neighbour)
        cause = e.code == mad::errc::timed_out ? std::string(what) : fmt::format("{}: {}", what, cause);
    return {kind_of(e),
            {found_.nodes[q.node].info.nodeGUID, q.port, went},
            fmt::format("{}: {}", what, to_string(e)),
            std::move(cause)};
}

void subnet_builder::rail_failed(iba::guid nodeGUID, u8 number, std::string text) {
    add_failure({failure_kind::send_failed, {nodeGUID, number}, std::move(text)}, false);
}

void subnet_builder::contradict(port_ref where, const IBDRPath& route, std::string text, iba::guid doubledGUID) {
    const iba::guid nodeGUID = found_.nodes[where.node].info.nodeGUID;
    add_failure({failure_kind::contradiction, {nodeGUID, where.port, route}, std::move(text), {}, doubledGUID}, true);
}

void subnet_builder::doubt(const NodeInfo& info, const IBDRPath& route, std::string text) {
    add_failure({failure_kind::contradiction, {info.nodeGUID, 0, route}, std::move(text)}, false);
}

void subnet_builder::add_failure(failure p, bool is_behind) {
    found_.failures.push_back(std::move(p));
    is_behind_.push_back(is_behind);
    if (options_.progress) options_.progress->failures.store(found_.failures.size(), std::memory_order_relaxed);
}

// ---- at the end of a round -----------------------------------------------------------------------------------------

void subnet_builder::order_from(iba::guid start, u8 start_port) {
    reached_ = put_in_order(found_, found_.by_guid.at(start), start_port);
    for (node& n : found_.nodes) n.route = with_key(n.route, n.info.portGUID);
    readings_.assign(found_.nodes.size(), {.next_step = ~0u}); // indices have changed, and whatever could be read was
}

// With all links known some nodes turn out to be nearer than the way they were found, and what one rail lost another may
// reach: ask again from here.
std::vector<smp_query> subnet_builder::take_up_left() {
    std::vector<smp_query> queries;
    std::erase_if(left_, [&](const remaining_query& left) {
        const u32 index = found_.by_guid.at(left.nodeGUID);
        const node& n = found_.nodes[index];
        if (left.what == topic::neighbour && n.ports[left.port].peer) return true;
        if (left.cause == left_by::distance && is_too_far({index, left.port}, n.route)) return false;
        if (left.cause == left_by::doubt && index >= reached_) return false;
        const bool is_second = left.cause == left_by::silence;
        queries.push_back({left.what, index, left.port, n.route, is_second});
        if (left.what == topic::node)
            readings_[index] = {.next_step = left.next_step, .readers = 1, .is_second = is_second};
        return true;
    });
    return queries;
}

subnet subnet_builder::finish(bool stopped) {
    for (const remaining_query& left : left_) {
        if (left.cause == left_by::doubt) continue; // no way leads there any more
        const IBDRPath& route = found_.find(left.nodeGUID)->route;
        if (left.cause == left_by::silence) { // it was stopped before it was asked again
            add_failure({failure_kind::timeout, {left.nodeGUID, left.port, route}, "no reply"},
                        left.what == topic::neighbour);
        } else if (left.cause == left_by::distance) {
            add_failure({failure_kind::too_far,
                         {left.nodeGUID, left.port, route},
                         fmt::format("neighbor not queried: it is more than {} hops away",
                                     std::min(options_.max_hops, mad::IBDRPath::max_hops))},
                        false);
        } else {
            add_failure({failure_kind::send_failed,
                         {left.nodeGUID, left.port, route},
                         "the query was lost: the local port that sent it failed"},
                        left.what == topic::neighbour);
        }
    }
    if (!limit_.empty()) add_failure({failure_kind::limit, {}, limit_}, false);
    else if (stopped) add_failure({failure_kind::cancelled, {}, "stopped before all nodes were queried"}, false);
    if (!shared_) return std::move(found_);

    // As if all had been asked from the first rail, one after the other.
    std::vector<std::size_t> order(found_.failures.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {
        const failure& p = found_.failures[i];
        const auto known = found_.by_guid.find(p.where.nodeGUID);
        const u32 place = known == found_.by_guid.end() ? port_ref::npos : known->second;
        return std::tuple(place, p.where.port, p.kind, std::string_view(p.text));
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    std::vector<failure> failures;
    for (const std::size_t i : order) {
        failure& p = failures.emplace_back(found_.failures[i]);
        const node* const n = found_.find(p.where.nodeGUID);
        if (!n) continue;
        p.where.route = n->route;
        if (is_behind_[i] && p.where.route.can_extend()) p.where.route = p.where.route.extended(p.where.port);
    }
    found_.failures = std::move(failures);
    return std::move(found_);
}

} // namespace comad::discovery
