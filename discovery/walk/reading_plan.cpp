// SPDX-License-Identifier: MIT
// reading_plan.cpp - decides which query of a discovery reads a node next.
#include "reading_plan.hpp"

#include <algorithm>

namespace comad::discovery {
namespace {

unsigned steps_of(const node& n) { return n.is_switch() ? n.info.numPorts + 3u : 2u; }

} // namespace

unsigned reading_plan::add(const node& n, const query_origin& origin) {
    readings_.push_back({.latest_worker = origin.worker});
    const auto index = static_cast<u32>(readings_.size() - 1);
    // A node without a wanted step has a reader too, whose end shows that the node was read.
    const unsigned steps = std::max(count_from(n, 0), 1u);
    const unsigned readers = order_.description_first ? 1 : std::min(steps, origin.most_readers);
    readings_[index].readers = readers;
    return readers;
}

unsigned reading_plan::add_readers(u32 index, const node& n, const query_origin& origin) {
    reading& r = readings_[index];
    const unsigned left = count_from(n, r.next_step);
    if (order_.description_first || !origin.is_idle || r.latest_worker == origin.worker || r.is_given_up ||
        r.timeouts_in_a_row > 0 || left == 0)
        return 0;
    const unsigned readers = std::min(left, origin.most_readers);
    r.latest_worker = origin.worker;
    r.readers += readers;
    return readers;
}

bool reading_plan::has_step(u32 index, const node& n) const {
    const reading& r = readings_[index];
    // After a timeout, one request in flight is enough until the node replies.
    const bool is_enough = r.timeouts_in_a_row > 0 && r.readers > 1;
    return wanted_from(n, r.next_step) < steps_of(n) && !r.is_given_up && !is_enough;
}

node_query reading_plan::next_step(u32 index, const node& n, const mad::IBDRPath& route) {
    reading& r = readings_[index];
    const unsigned position = wanted_from(n, r.next_step);
    r.next_step = position + 1;
    const step next = step_at(n, position);
    return {.kind = next.kind,
            .node = index,
            .port = static_cast<u8>(next.port),
            .route = route,
            .is_second = r.is_second,
            .is_step = true};
}

reading_plan::step reading_plan::step_at(const node& n, unsigned position) const {
    const unsigned steps = steps_of(n);
    if (order_.description_first) position = (position + steps - 1) % steps; // the description is the last step
    if (!n.is_switch())
        return position == 0 ? step{query_kind::port, n.info.localPortNum} : step{query_kind::description, 0};
    const unsigned last_port = n.info.numPorts;
    if (order_.port_0_first && position <= last_port) return {query_kind::port, position};
    if (position < last_port) return {query_kind::port, position + 1};
    if (position == last_port) return {query_kind::port, 0};
    return {position == last_port + 1 ? query_kind::switch_info : query_kind::description, 0};
}

bool reading_plan::is_wanted(const step& s, const node& n) const {
    const iba::NodeType type = n.info.nodeType;
    if (s.kind == query_kind::description) return order_.wanted.NodeDescription.has(type);
    if (s.kind == query_kind::switch_info) return order_.wanted.SwitchInfo;
    // The discovery continues through external ports of switches, and through the local port.
    const bool leads_on = s.port != 0 && (n.is_switch() || n.route.hopCount == 0);
    return leads_on || order_.port_0_first || order_.wanted.end_ports.has(type);
}

unsigned reading_plan::wanted_from(const node& n, unsigned position) const {
    const unsigned steps = steps_of(n);
    while (position < steps && !is_wanted(step_at(n, position), n)) ++position;
    return position;
}

unsigned reading_plan::count_from(const node& n, unsigned position) const {
    unsigned count = 0;
    for (const unsigned steps = steps_of(n); (position = wanted_from(n, position)) < steps; ++position) ++count;
    return count;
}

bool reading_plan::note_timeout(u32 index, const node& n) {
    reading& r = readings_[index];
    if (++r.timeouts_in_a_row < 2 || r.is_given_up || wanted_from(n, r.next_step) >= steps_of(n)) return false;
    r.is_given_up = true;
    return true;
}

} // namespace comad::discovery
