// SPDX-License-Identifier: MIT
// smp_routing.cpp - chooses whether an SMP of a discovery is routed by LID or by a directed route.
#include "smp_routing.hpp"

#include <comad/discovery/database/detail/link.hpp>

#include <chrono>

namespace comad::discovery {

using mad::IBDRPath;

namespace {

/// The time limit of a trial. All its attempts are made, and it waits for several round trips of the slowest node in any case.
constexpr mad::duration trial_patience = std::chrono::milliseconds(1);

/// Returns whether another path may lead to a reply.
bool is_without_reply(const mad::mad_error& e) {
    return e.code == mad::errc::timed_out || e.code == mad::errc::send_failed || e.code == mad::errc::malformed_reply;
}

u32 modifier_of(const node_query& q) {
    if (q.kind == query_kind::neighbor) return 0;
    return q.port | (q.understands_extended_speeds ? understands_extended_speeds : 0);
}

} // namespace

IBDRPath with_key(IBDRPath route, iba::guid portGUID, const discover_options& options) {
    route.MKey = options.keys ? options.keys->of(mad::key_kind::MKey, portGUID) : 0;
    return route;
}

bool smp_routing::is_too_far(const subnet& found, port_ref here, const IBDRPath& route) const {
    const unsigned hops = settings_.has_several_workers ? route.hopCount : found.nodes[here.node].hops;
    return hops >= options_.max_hops || !route_beyond(found, here, route, options_.from_lid);
}

node_request smp_routing::prepare(const subnet& found, const node_query& q) {
    node_request request{.query = q, .directed = route_to(found, q), .modifier = modifier_of(q)};
    if (options_.from_lid == iba::lid{} || q.is_second || !use_lid(request, found)) request.path = request.directed;
    return request;
}

// Returns the route to the node, or to the node on the other end of the link.
IBDRPath smp_routing::route_to(const subnet& found, const node_query& q) const {
    const node& n = found.nodes[q.node];
    const iba::guid portGUID = n.ports[q.port].portGUID;
    if (q.kind != query_kind::neighbor)
        return with_key(q.route, portGUID != iba::guid{} ? portGUID : n.info.portGUID, options_);
    IBDRPath route = route_beyond(found, {q.node, q.port}, q.route, options_.from_lid).value_or(IBDRPath{});
    route.MKey = options_.keys ? options_.keys->beyond(mad::key_kind::MKey, portGUID, q.port) : 0;
    return route;
}

// Returns the LID of a port if SMPs can be routed by it, else 0. After a link has trained again, both ends still have LIDs, but LID-routed
// SMPs do not pass the link before a subnet manager activates it.
iba::lid smp_routing::usable_lid(const subnet& found, port_ref at) const {
    const node& n = found.nodes[at.node];
    const port_ref in_front = n.ports[n.is_switch() ? n.info.localPortNum : at.port].peer;
    const auto& link = in_front ? found.at(in_front).info : n.ports[at.port].info;
    return link && link->portState == iba::PortState::Active ? found.lid_at(at) : iba::lid{};
}

// Sets the path that involves the fewest management agents. Returns false if that is the directed route.
bool smp_routing::use_lid(node_request& request, const subnet& found) {
    const node_query& q = request.query;
    if (q.kind == query_kind::neighbor) return use_switch_in_front(request, found, {q.node, q.port});
    const node& n = found.nodes[q.node];
    const u8 entry = n.is_switch() || q.port == 0 ? n.info.localPortNum : q.port;
    const iba::lid lid = n.hops > 0 ? usable_lid(found, {q.node, entry}) : iba::lid{};
    if (lid == iba::lid{} || !take(request, routing::lid))
        return use_switch_in_front(request, found, n.ports[entry].peer);
    mad::IBPath path;
    path.DLID = lid;
    path.SLID = options_.from_lid;
    path.MKey = request.directed.MKey;
    request.path = path;
    return true;
}

bool smp_routing::use_switch_in_front(node_request& request, const subnet& found, port_ref in_front) {
    const bool has_switch_between = in_front && found.nodes[in_front.node].hops > 0;
    const iba::lid lid = has_switch_between ? usable_lid(found, in_front) : iba::lid{};
    if (lid == iba::lid{} || !take(request, routing::mixed)) return false;
    IBDRPath path = IBDRPath::from_lid(lid, in_front.port, options_.from_lid);
    path.MKey = request.directed.MKey;
    request.path = path;
    return true;
}

/// Returns whether the request uses this routing. The first request is the trial.
bool smp_routing::take(node_request& request, routing by) {
    experience& so_far = with(by);
    if (so_far == experience::bad || so_far == experience::on_trial) return false;
    if (so_far == experience::none) {
        so_far = experience::on_trial;
        request.patience = trial_patience;
    }
    request.by = by;
    return true;
}

bool smp_routing::is_directed_next(const node_request& request, const mad::mad_error& e) const {
    if (request.by == routing::directed || !is_without_reply(e)) return false;
    const bool is_queried_again = settings_.retries_timeouts && e.code == mad::errc::timed_out;
    return !is_queried_again || with(request.by) != experience::good;
}

void smp_routing::note_reply(const node_request& request) {
    if (request.by == routing::directed) return;
    experience& so_far = with(request.by);
    if (!request.fell_back) so_far = experience::good;
    else if (so_far != experience::good) so_far = experience::bad;
}

void smp_routing::note_failure(const node_request& request) {
    if (request.by != routing::directed && with(request.by) == experience::on_trial)
        with(request.by) = experience::none;
}

} // namespace comad::discovery
