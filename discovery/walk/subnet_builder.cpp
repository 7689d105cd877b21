// SPDX-License-Identifier: MIT
// subnet_builder.cpp - builds a subnet from the replies of a discovery, and decides what is queried again after failures.
#include "subnet_builder.hpp"

#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/walk/node_sequence.hpp>

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace comad::discovery {

using iba::smp::MlnxExtPortInfo;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using mad::IBDRPath;

subnet_builder::subnet_builder(const discover_options& options, settings s)
    : options_(options), settings_(s), limits_(options_, s.end), failures_(options_.progress),
      found_(options_, limits_, failures_), plan_({.port_0_first = options_.from_lid != iba::lid{},
                                                   .description_first = options_.follows != nullptr,
                                                   .wanted = options_.wanted}),
      routing_(options_, {.has_several_workers = s.has_several_workers, .retries_timeouts = s.retries_timeouts}) {}

// ---- time ----------------------------------------------------------------------------------------------------------

void subnet_builder::start_clock(mad::time_point now) {
    const auto lock = guard();
    limits_.start_clock(now);
}

std::optional<mad::time_point> subnet_builder::end() const {
    const auto lock = guard();
    return limits_.end();
}

mad::duration subnet_builder::time_left(mad::time_point now) const {
    const auto lock = guard();
    return limits_.time_left(now);
}

void subnet_builder::note_time_over() {
    const auto lock = guard();
    limits_.note_time_over();
}

// ---- start ---------------------------------------------------------------------------------------------------------

bool is_same_start(const subnet& known, const NodeInfo& info) {
    const NodeInfo& was = known.nodes.front().info;
    const bool is_same_node =
        was.nodeGUID == info.nodeGUID && was.nodeType == info.nodeType && was.numPorts == info.numPorts;
    return is_same_node && known.start_port == (known.nodes.front().is_switch() ? 0 : info.localPortNum);
}

void subnet_builder::begin_with(const subnet& known, std::span<const port_ref> possibly_stale) {
    found_.load(known);
    plan_.restart(known.nodes.size());
    for (const port_ref r : possibly_stale) {
        if (r.port == 0) add_stale_node(r.node);
        else add_stale(r);
    }
    pending_.remove_duplicates();
}

void subnet_builder::add_stale_node(u32 index) {
    const node& n = found_.at(index);
    const auto add = [&](query_kind kind, unsigned port) {
        pending_.add({kind, n.info.nodeGUID, static_cast<u8>(port), pending_reason::possibly_stale});
    };
    if (options_.wanted.NodeDescription.has(n.info.nodeType)) add(query_kind::description, 0);
    if (n.is_switch() && options_.wanted.SwitchInfo) add(query_kind::switch_info, 0);
    for (unsigned p = 0; p < n.ports.size(); ++p) {
        if (n.is_switch() && p > 0) add_stale({index, static_cast<u8>(p)});
        else if (n.is_switch() || n.ports[p].info) add(query_kind::port, p);
    }
}

// Marks both ends of the link, because a route may lead to only one of them. A port of a CA is read when the CA is reached again.
void subnet_builder::add_stale(port_ref here) {
    for (const port_ref end : {here, found_.disconnect(here)}) {
        if (!end || !found_.at(end.node).is_switch()) continue;
        pending_.add({query_kind::port, found_.at(end.node).info.nodeGUID, end.port, pending_reason::possibly_stale});
    }
}

u32 subnet_builder::begin(const NodeInfo& info, const query_origin& origin, query_queue& queue) {
    const auto lock = guard();
    const IBDRPath local = path_to_start();
    const probe_result start = found_.add_start(info, local);
    if (start.node == port_ref::npos) return start.node;
    const node& n = found_.at(start.node);
    const unsigned readers = start.is_new          ? plan_.add(n, origin)
                             : start.is_other_port ? 0
                                                   : plan_.add_readers(start.node, n, origin);
    enqueue(start, readers, info, local, queue);
    return start.node;
}

// ---- queries -------------------------------------------------------------------------------------------------------

// Decides whether a link is queried when the window has space for the query, not when the port was read. The query from the other end may
// have found the link in the meantime.
std::optional<node_request> subnet_builder::next(const node_query& q) {
    const auto lock = guard();
    if (q.kind == query_kind::neighbor && !is_needed(q)) return std::nullopt;
    if (q.kind != query_kind::node) return routing_.prepare(found_.get(), q);
    const std::optional<node_query> step = next_step(q.node, q.route);
    if (!step) return std::nullopt;
    return routing_.prepare(found_.get(), *step);
}

bool subnet_builder::is_needed(const node_query& q) {
    const port_ref here{q.node, q.port};
    if (found_.at(here).peer || is_ending()) return false;
    if (options_.follows && !(*options_.follows)(found_.get(), here)) return false;
    if (!routing_.is_too_far(found_.get(), here, q.route)) return true;
    pending_.add({query_kind::neighbor, found_.at(q.node).info.nodeGUID, q.port, pending_reason::too_far});
    return false;
}

std::optional<node_query> subnet_builder::next_step(u32 index, const IBDRPath& route) {
    const node& n = found_.at(index);
    if (plan_.has_step(index, n) && !is_ending()) return plan_.next_step(index, n, route);
    if (plan_.end_reader(index) && options_.found) options_.found->put(n);
    return std::nullopt;
}

bool subnet_builder::is_directed_next(const node_request& request, const mad::mad_error& e) const {
    const auto lock = guard();
    return routing_.is_directed_next(request, e);
}

// ---- replies -------------------------------------------------------------------------------------------------------

std::optional<node_request> subnet_builder::accept(const node_request& request, const node_reply& reply,
                                                   const query_origin& origin, query_queue& queue) {
    const auto lock = guard();
    if (std::holds_alternative<mad::mad_error>(reply)) routing_.note_failure(request);
    else routing_.note_reply(request);
    const context here{request, origin, queue};
    std::optional<node_query> next = std::visit([&](const auto& content) { return take(here, content); }, reply);
    if (!next && request.query.is_step) next = next_step(request.query.node, request.query.route);
    if (!next) return std::nullopt;
    return routing_.prepare(found_.get(), *next);
}

std::optional<node_query> subnet_builder::take(const context& c, const NodeInfo& info) {
    const node_query& q = c.request.query;
    const probe_result there = found_.add_neighbor({q.node, q.port}, info, c.request.directed);
    if (there.node == port_ref::npos) return std::nullopt;
    const node& n = found_.at(there.node);
    const unsigned readers = there.is_new ? plan_.add(n, c.origin) : plan_.add_readers(there.node, n, c.origin);
    enqueue(there, readers, info, c.request.directed, c.queue);
    return std::nullopt;
}

void subnet_builder::enqueue(const probe_result& there, unsigned readers, const NodeInfo& info, const IBDRPath& route,
                             query_queue& queue) const {
    const auto add = [&](query_kind kind, u8 port) { queue.push_back({kind, there.node, port, route}); };
    if (there.is_other_port) add(query_kind::port, info.localPortNum);
    if (there.is_back) {
        if (options_.wanted.NodeDescription.has(info.nodeType)) add(query_kind::description, 0);
        if (info.nodeType == iba::NodeType::Switch) add(query_kind::port, 0);
    }
    for (unsigned i = 0; i < readers; ++i) add(query_kind::node, 0);
}

std::optional<node_query> subnet_builder::take(const context& c, const PortInfo& info) {
    const node_query& q = c.request.query;
    const port_ref here{q.node, q.port};
    plan_.note_reply(q.node);
    found_.set(here, info);
    reread_for_ext_speeds(q, c.queue);
    const bool is_up = info.portPhysicalState == iba::PortPhysicalState::LinkUp;
    if (q.understands_extended_speeds || q.port == 0 || !is_up) return std::nullopt;
    const node& n = found_.at(q.node);
    const bool leads_on = n.is_switch() || c.origin.start == here; // a CA or router forwards no SMPs
    if (leads_on && !found_.at(here).peer) c.queue.push_back({query_kind::neighbor, q.node, q.port, q.route});
    if (!options_.mlnx_ext_port_info || !may_be_fdr10(n, q.port)) return std::nullopt;
    node_query extended = q;
    extended.kind = query_kind::ext_port_info;
    return extended;
}

void subnet_builder::reread_for_ext_speeds(const node_query& read, query_queue& queue) {
    const bool has_bit = read.understands_extended_speeds;
    for (const u8 port : hidden_speeds_.note_reply(found_.get(), {read.node, read.port}, has_bit))
        queue.push_front({.kind = query_kind::port, // at the front: other ports may wait for this reply
                          .node = read.node,
                          .port = port,
                          .route = read.route,
                          .is_second = read.is_second,
                          .understands_extended_speeds = true});
}

std::optional<node_query> subnet_builder::take(const context& c, const MlnxExtPortInfo& info) {
    const node_query& q = c.request.query;
    plan_.note_reply(q.node);
    found_.set({q.node, q.port}, info);
    return std::nullopt;
}

std::optional<node_query> subnet_builder::take(const context& c, const SwitchInfo& info) {
    plan_.note_reply(c.request.query.node);
    found_.set(c.request.query.node, info);
    return std::nullopt;
}

std::optional<node_query> subnet_builder::take(const context& c, const NodeDescription& description) {
    plan_.note_reply(c.request.query.node);
    found_.set(c.request.query.node, description);
    return std::nullopt;
}

// ---- failures ------------------------------------------------------------------------------------------------------

namespace {

std::string_view attribute_of(query_kind kind) {
    switch (kind) {
    case query_kind::neighbor: return iba::info_of<NodeInfo>.name;
    case query_kind::ext_port_info: return iba::info_of<MlnxExtPortInfo>.name;
    case query_kind::switch_info: return iba::info_of<SwitchInfo>.name;
    case query_kind::description: return iba::info_of<NodeDescription>.name;
    default: return iba::info_of<PortInfo>.name;
    }
}

failure failed_query(iba::guid nodeGUID, const node_request& request, const mad::mad_error& e) {
    const node_query& q = request.query;
    const bool is_timeout = e.code == mad::errc::timed_out;
    const std::string what = q.kind != query_kind::neighbor ? fmt::format("{} not read", attribute_of(q.kind))
                             : is_timeout                   ? "no reply from the neighbor"
                                                            : "neighbor not read";
    std::string cause = cause_text(e);
    if (q.kind == query_kind::neighbor) cause = is_timeout ? what : fmt::format("{}: {}", what, cause);
    return {
        kind_of(e), {nodeGUID, q.port, request.directed}, fmt::format("{}: {}", what, to_string(e)), std::move(cause)};
}

} // namespace

std::optional<node_query> subnet_builder::take(const context& c, const mad::mad_error& e) {
    const node_query& q = c.request.query;
    // The device ID indicates MlnxExtPortInfo, but the firmware may not support it.
    if (q.kind == query_kind::ext_port_info && is_unsupported(e)) return std::nullopt;
    if (e.code == mad::errc::cancelled) return std::nullopt; // finish() notes it once
    const bool rejects_bit = q.understands_extended_speeds && e.code == mad::errc::status;
    if (rejects_bit) hidden_speeds_.note_rejection(found_.at(q.node));
    else add_failure(c.request, e);
    return std::nullopt;
}

void subnet_builder::add_failure(const node_request& request, const mad::mad_error& e) {
    const node_query& q = request.query;
    const iba::guid nodeGUID = found_.at(q.node).info.nodeGUID;
    // PortInfo is read together with it.
    const query_kind kind = q.kind == query_kind::ext_port_info ? query_kind::port : q.kind;
    if (settings_.has_several_workers && kind_of(e) == failure_kind::send_failed) {
        pending_.add({kind, nodeGUID, q.port, pending_reason::worker_failed, 0, q.understands_extended_speeds});
        return;
    }
    if (q.understands_extended_speeds && !q.is_second) hidden_speeds_.note_timeout(found_.at(q.node));
    const bool is_timeout = e.code == mad::errc::timed_out, is_neighbor = q.kind == query_kind::neighbor;
    const bool is_queried_again = is_timeout && settings_.retries_timeouts && !q.is_second;
    if (is_queried_again)
        pending_.add({kind, nodeGUID, q.port, pending_reason::timed_out, 0, q.understands_extended_speeds});
    else failures_.add(failed_query(nodeGUID, request, e), is_neighbor);
    if (is_timeout && !is_neighbor) add_timeout(request, is_queried_again);
}

void subnet_builder::add_timeout(const node_request& request, bool is_queried_again) {
    const u32 index = request.query.node;
    const node& n = found_.at(index);
    if (!plan_.note_timeout(index, n)) return;
    if (is_queried_again) {
        pending_.add({query_kind::node, n.info.nodeGUID, 0, pending_reason::timed_out, plan_.position(index)});
        return;
    }
    failures_.add({failure_kind::timeout,
                   {n.info.nodeGUID, 0, request.directed},
                   "the node stopped replying and was not queried further"});
}

void subnet_builder::local_port_failed(iba::guid nodeGUID, u8 port, std::string text) {
    failures_.add({failure_kind::send_failed, {nodeGUID, port}, std::move(text)});
}

// ---- at the end of a round -----------------------------------------------------------------------------------------

void subnet_builder::order_from(iba::guid start, u8 start_port) {
    reached_ = found_.put_in_order_from(start, start_port);
    plan_.restart(found_.get().nodes.size());
}

std::vector<node_query> subnet_builder::take_pending() {
    std::vector<node_query> queries;
    const subnet& found = found_.get();
    pending_.take_if([&](const pending_query& q) {
        const u32 index = found.by_guid.at(q.nodeGUID);
        const node& n = found.nodes[index];
        if (q.kind == query_kind::neighbor && n.ports[q.port].peer) return true;
        const bool has_no_route =
            (q.reason == pending_reason::too_far && routing_.is_too_far(found, {index, q.port}, n.route)) ||
            (q.reason == pending_reason::possibly_stale && index >= reached_);
        if (has_no_route) return false;
        const bool is_second = q.reason == pending_reason::timed_out;
        queries.push_back({q.kind, index, q.port, n.route, is_second, q.understands_extended_speeds});
        if (q.kind == query_kind::node) plan_.resume(index, q.position, is_second);
        return true;
    });
    for (const auto& [nodeGUID, port] : hidden_speeds_.take_waiting()) {
        const u32 index = found.by_guid.at(nodeGUID);
        queries.push_back({.kind = query_kind::port,
                           .node = index,
                           .port = port,
                           .route = found.nodes[index].route,
                           .understands_extended_speeds = true});
    }
    return queries;
}

subnet subnet_builder::finish(bool is_stopped) {
    pending_.report(found_.get(), options_.max_hops, failures_);
    if (!limits_.reached().empty()) failures_.add({failure_kind::limit, {}, limits_.reached()});
    else if (is_stopped) failures_.add({failure_kind::cancelled, {}, "stopped before all nodes were queried"});
    return found_.finish(settings_.has_several_workers ? failures_.take_sorted(found_.get()) : failures_.take());
}

} // namespace comad::discovery
