// SPDX-License-Identifier: MIT
// discovery_rig.cpp - the witness of the requests in flight, and the comparison of a discovered subnet with the
// simulated one.
#include "library/discovery_rig.hpp"

#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/deadlines.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace comad::test {

using iba::NodeType;
using transports::sim::default_port;

// ---- witness --------------------------------------------------------------------------------------------------------

void witness::note(std::span<const u8> bytes) noexcept {
    const auto mix = [this](u64 number) { trace = (trace ^ number) * 1099511628211u; };
    mix(static_cast<u64>(now_.time_since_epoch().count()));
    for (u8 byte : bytes) mix(byte);
}

mad::send_result witness::send(const mad::send_request& request) noexcept {
    const auto result = watched_.send(request);
    if (result.state != mad::send_state::sent) return result;
    note({request.mad, request.size});
    const operation what{mad::destination_key(*request.path), iba::get<&iba::MADHeader::attributeID>(request.mad),
                         iba::get<&iba::MADHeader::attributeModifier>(request.mad)};
    if (const IBDRPath* route = mad::directed(*request.path)) {
        longest_route = std::max<unsigned>(longest_route, route->hopCount);
    }
    std::erase_if(in_flight_, [&](const auto& one) { return one.second <= now_; });
    const auto [known, is_new] = answered_.emplace(what, false);
    first_attempts += is_new;
    queried_twice += known->second;
    attempts_.insert_or_assign(static_cast<u32>(iba::get<&iba::MADHeader::transactionID>(request.mad)), what);
    in_flight_.insert_or_assign(what, now_ + mad::detail::deadlines::rounded(request.attempt_timeout));
    most = std::max(most, in_flight_.size());
    const auto same = [&](const auto& one) { return one.first.destination == what.destination; };
    most_to_one =
        std::max(most_to_one, static_cast<std::size_t>(std::count_if(in_flight_.begin(), in_flight_.end(), same)));
    return result;
}

mad::received witness::receive(std::span<u8> buffer) noexcept {
    const auto message = watched_.receive(buffer);
    if (message.state != mad::receive_state::message) return message;
    note(message.mad);
    if (message.full_size != mad::mad_size) return message;
    const auto attempt = attempts_.find(static_cast<u32>(iba::get<&iba::MADHeader::transactionID>(message.mad.data())));
    if (attempt == attempts_.end()) return message;
    in_flight_.erase(attempt->second);
    answered_[attempt->second] = true;
    return message;
}

// ---- world ----------------------------------------------------------------------------------------------------------

world::world(topology t, coro::schedule_options options, const timing& times, const faults& wrong,
             const std::optional<kernel_options>& through)
    : net(std::move(t), times, wrong), port(net, time_mode::virtual_), seen(put_before(port, through, kernel)),
      schedule(seen, options) {}

world::world(topology t, u32 node, unsigned start_port)
    : net(std::move(t)), port(net, node, start_port, time_mode::virtual_),
      seen(put_before(port, kernel_of_this_run(), kernel)), schedule(seen, window()) {}

subnet world::discover(const discovery::discover_options& options) {
    auto found = coro::sync_wait(schedule, discovery::discover(schedule, options));
    REQUIRE(found);
    return std::move(found).value();
}

topology managed(std::string_view specification) {
    topology t = transports::sim::make_topology(specification);
    bring_up(t);
    return t;
}

std::string text_of(const subnet& found) {
    return format_topology(found, {}, {.full = true, .mads_used = {}}) + json_text(found);
}

// ---- the expected subnet --------------------------------------------------------------------------------------------

namespace {

constexpr unsigned unreached = std::numeric_limits<unsigned>::max();

/// Returns true if a directed route can leave `node` through `port`.
bool leads_out(const topology& t, u32 node, unsigned port, u32 start, unsigned start_port) {
    if (!t.nodes[node].ports[port].linked()) return false;
    return t.nodes[node].is_switch() || (node == start && port == start_port);
}

/// Returns the number of hops from `start` to each node.
std::vector<unsigned> distances(const topology& t, u32 start, unsigned start_port) {
    std::vector<unsigned> distance(t.nodes.size(), unreached);
    distance[start] = 0;
    std::vector<u32> queue{start};
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const auto& here = t.nodes[queue[next]];
        for (unsigned p = 1; p <= here.num_ports(); ++p) {
            const u32 there = here.ports[p].peer_node;
            if (!leads_out(t, queue[next], p, start, start_port) || distance[there] != unreached) continue;
            distance[there] = distance[queue[next]] + 1;
            queue.push_back(there);
        }
    }
    return distance;
}

/// Compares a discovered subnet with a topology. run() returns the differences.
class comparison {
public:
    comparison(const subnet& found, const topology& t, u32 start, unsigned start_port, unsigned most_hops)
        : found_(found), t_(t), start_(start), start_port_(start_port), most_hops_(most_hops),
          distance_(distances(t, start, start_port)) {}

    std::vector<std::string> run() {
        std::size_t reachable = 0, links = 0;
        for (u32 n = 0; n < t_.nodes.size(); ++n) {
            if (!is_near(n)) continue;
            ++reachable;
            compare_node(n);
            for (unsigned p = 1; p <= t_.nodes[n].num_ports(); ++p) links += is_found_link(n, p);
        }
        expect("nodes", found_.nodes.size(), reachable);
        expect("links", found_.link_count(), links / 2);
        if (!found_.nodes.empty()) expect("start", found_.nodes[0].info.nodeGUID, t_.nodes[start_].nodeGUID);
        return std::move(lines_);
    }

private:
    bool is_near(u32 n) const { return distance_[n] != unreached && distance_[n] <= most_hops_; }
    // A link is found if a query crossed it from either end.
    bool is_found_link(u32 n, unsigned p) const {
        const auto& port = t_.nodes[n].ports[p];
        if (!port.linked() || !is_near(n) || !is_near(port.peer_node)) return false;
        return (leads_out(t_, n, p, start_, start_port_) && distance_[n] < most_hops_) ||
               (leads_out(t_, port.peer_node, port.peer_port, start_, start_port_) &&
                distance_[port.peer_node] < most_hops_);
    }

    void compare_node(u32 n) {
        const auto& want = t_.nodes[n];
        place_ = want.id;
        const discovery::node* have = found_.find(want.nodeGUID);
        if (!have) return lines_.push_back(place_ + " was not found");
        expect("nodeType", have->info.nodeType, want.type);
        expect("numPorts", have->info.numPorts, want.num_ports());
        expect("systemImageGUID", have->info.systemImageGUID, want.systemImageGUID);
        expect("vendorID", have->info.vendorID, want.vendorID);
        expect("deviceID", have->info.deviceID, want.deviceID);
        if (have->description != want.description.substr(0, 64)) lines_.push_back(place_ + ": description");
        if (want.is_switch() != have->switch_info.has_value()) lines_.push_back(place_ + ": SwitchInfo");
        if (have->switch_info) expect("enhancedPort0", have->switch_info->enhancedPort0, want.enhanced_port0);
        expect("hops", have->route.hopCount, distance_[n]);
        if (walk(t_, start_, start_port_, have->route) != n) lines_.push_back(place_ + ": its route leads elsewhere");
        if (have->ports.size() != want.ports.size()) return lines_.push_back(place_ + ": ports");
        for (unsigned p = want.first_port(); p <= want.num_ports(); ++p) compare_port(n, p, have->ports[p]);
    }

    void compare_port(u32 n, unsigned p, const discovery::port& have) {
        const auto& owner = t_.nodes[n];
        const auto& want = owner.ports[p];
        place_ = fmt::format("{}[{}]", owner.id, p);
        // At a CA, a discovery can query only the local port and ports through which a query entered.
        const bool is_known = owner.is_switch() || is_found_link(n, p) || (n == start_ && p == start_port_);
        if (have.info.has_value() != is_known) return lines_.push_back(place_ + ": PortInfo");
        if (is_found_link(n, p)) {
            if (!have.peer) return lines_.push_back(place_ + ": no peer");
            expect("peer", found_.nodes[have.peer.node].info.nodeGUID, t_.nodes[want.peer_node].nodeGUID);
            expect("peer's port", have.peer.port, want.peer_port);
        } else if (have.peer) {
            lines_.push_back(place_ + ": a peer too many");
        }
        if (!is_known) return;
        expect("portGUID", have.portGUID, want.GUID);
        expect("portState", have.info->portState, want.state);
        if (p == 0 || !owner.is_switch()) {
            expect("LID", have.info->LID, want.LID);
            expect("LMC", have.info->LMC, want.LMC);
        }
        if (!want.linked()) return;
        expect("linkWidthActive", have.info->linkWidthActive, want.active.width);
        if (want.active.has_extended_speed()) {
            expect("linkSpeedExtActive", have.info->linkSpeedExtActive, want.active.extended_speed());
            expect("linkSpeedExtActive2", have.info->linkSpeedExtActive2, want.active.extended_speed2());
        } else {
            expect("linkSpeedActive", have.info->linkSpeedActive, want.active.legacy_speed());
        }
    }

    template <class A, class B> void expect(std::string_view what, A have, B want) {
        const auto a = static_cast<u64>(have), b = static_cast<u64>(want);
        if (a != b) lines_.push_back(fmt::format("{}: {} is {:#x}, not {:#x}", place_, what, a, b));
    }

    const subnet& found_;
    const topology& t_;
    const u32 start_;
    const unsigned start_port_, most_hops_;
    const std::vector<unsigned> distance_;
    std::string place_ = "subnet";
    std::vector<std::string> lines_;
};

} // namespace

std::vector<std::string> differences(const subnet& found, const topology& t, u32 start, unsigned start_port,
                                     unsigned most_hops) {
    return comparison(found, t, start, start_port, most_hops).run();
}

std::vector<std::string> differences(const subnet& found, const world& w, unsigned most_hops) {
    return differences(found, w.net.graph(), w.port.node(), w.port.port(), most_hops);
}

std::vector<std::string> inconsistencies(const subnet& found) {
    std::vector<std::string> lines;
    for (u32 n = 0; n < found.nodes.size(); ++n) {
        const discovery::node& here = found.nodes[n];
        const std::string name = topology_id(here);
        if (found.find(here.info.nodeGUID) != &here) lines.push_back(name + " is indexed wrong");
        if (here.ports.size() != here.info.numPorts + 1u) lines.push_back(name + " has not the ports it says");
        for (unsigned p = 0; p < here.ports.size(); ++p) {
            const discovery::port_ref peer = here.ports[p].peer;
            if (!peer) continue;
            const bool exists = peer.node < found.nodes.size() && peer.port < found.nodes[peer.node].ports.size();
            if (!exists || found.at(peer).peer != discovery::port_ref{n, static_cast<u8>(p)}) {
                lines.push_back(fmt::format("{}[{}]: its peer has another", name, p));
            }
        }
    }
    return lines;
}

std::optional<u32> walk(const topology& t, u32 start, unsigned start_port, const IBDRPath& route) {
    u32 at = start;
    for (u8 out : route.hops()) {
        if (out == 0 || out > t.nodes[at].num_ports() || !leads_out(t, at, out, start, start_port)) return std::nullopt;
        at = t.nodes[at].ports[out].peer_node;
    }
    return at;
}

} // namespace comad::test
