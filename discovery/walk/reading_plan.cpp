// SPDX-License-Identifier: MIT
// reading_plan.cpp - decides which query of a discovery reads a node next.
#include "reading_plan.hpp"

#include <algorithm>

namespace comad::discovery {
namespace {

unsigned steps_of(const node& n) { return n.is_switch() ? n.info.numPorts + 3u : 2u; }

} // namespace

unsigned reading_plan::add(const node& n, const query_origin& origin) {
    const unsigned readers = order_.description_first ? 1 : std::min(steps_of(n), origin.most_readers);
    readings_.push_back({.readers = readers, .latest_worker = origin.worker});
    return readers;
}

unsigned reading_plan::add_readers(u32 index, const node& n, const query_origin& origin) {
    reading& r = readings_[index];
    const unsigned steps = steps_of(n);
    if (order_.description_first || !origin.is_idle || r.latest_worker == origin.worker || r.is_given_up ||
        r.timeouts_in_a_row > 0 || r.next_step >= steps)
        return 0;
    const unsigned readers = std::min(steps - r.next_step, origin.most_readers);
    r.latest_worker = origin.worker;
    r.readers += readers;
    return readers;
}

bool reading_plan::has_step(u32 index, const node& n) const {
    const reading& r = readings_[index];
    // After a timeout, one request in flight is enough until the node replies.
    const bool is_enough = r.timeouts_in_a_row > 0 && r.readers > 1;
    return r.next_step < steps_of(n) && !r.is_given_up && !is_enough;
}

node_query reading_plan::next_step(u32 index, const node& n, const mad::IBDRPath& route) {
    reading& r = readings_[index];
    const unsigned steps = steps_of(n), next = r.next_step++;
    const unsigned step =
        order_.description_first ? (next + steps - 1) % steps : next; // the description is the last step
    const auto query = [&](query_kind kind, unsigned port) {
        return node_query{.kind = kind,
                          .node = index,
                          .port = static_cast<u8>(port),
                          .route = route,
                          .is_second = r.is_second,
                          .is_step = true};
    };
    if (!n.is_switch())
        return step == 0 ? query(query_kind::port, n.info.localPortNum) : query(query_kind::description, 0);
    const unsigned last_port = n.info.numPorts;
    if (order_.port_0_first && step <= last_port) return query(query_kind::port, step);
    if (step < last_port) return query(query_kind::port, step + 1);
    if (step == last_port) return query(query_kind::port, 0);
    return query(step == last_port + 1 ? query_kind::switch_info : query_kind::description, 0);
}

bool reading_plan::note_timeout(u32 index, const node& n) {
    reading& r = readings_[index];
    if (++r.timeouts_in_a_row < 2 || r.is_given_up || r.next_step >= steps_of(n)) return false;
    r.is_given_up = true;
    return true;
}

} // namespace comad::discovery
