// SPDX-License-Identifier: MIT
// limit_check.cpp - decides when a discovery stops because of a limit.
#include "limit_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace comad::discovery {

void limit_check::start_clock(mad::time_point now) {
    if (!end_ && options_.max_time.count() > 0 && options_.max_time < mad::time_point::max() - now)
        end_ = now + options_.max_time;
}

mad::duration limit_check::time_left(mad::time_point now) const noexcept {
    return end_ ? std::max(*end_ - now, mad::duration{0}) : mad::duration::max();
}

void limit_check::note_time_over() {
    note(fmt::format("stopped at the time limit of {} s", mad::in_seconds(options_.max_time)));
}

bool limit_check::is_memory_short(std::size_t nodes) {
    if (!options_.memory_is_short || !options_.memory_is_short->load(std::memory_order_relaxed)) return false;
    note(fmt::format("stopped at {} nodes: memory is low", nodes));
    return true;
}

bool limit_check::is_full(std::size_t nodes, std::size_t ports) {
    const bool has_all_nodes = nodes >= options_.max_nodes, has_all_ports = ports >= options_.max_ports;
    if (has_all_nodes) note(fmt::format("not all nodes were discovered: the limit is {} nodes", options_.max_nodes));
    else if (has_all_ports)
        note(fmt::format("not all nodes were discovered: {} nodes have {} ports, and the limit is {} ports", nodes,
                         ports, options_.max_ports));
    return has_all_nodes || has_all_ports;
}

void limit_check::note(std::string text) {
    if (reached_.empty()) reached_ = std::move(text);
}

} // namespace comad::discovery
