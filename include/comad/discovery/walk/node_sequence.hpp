// SPDX-License-Identifier: MIT
// node_sequence.hpp - a queue of the nodes of a running discovery, in the order in which they are found. Does not depend on a text format.
#pragma once
#include <comad/coro/event.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <deque>
#include <optional>
#include <unordered_set>

namespace comad::discovery {

/// A queue that lets a task work with nodes while the discovery still runs. The discovery adds each node after it has read the node,
/// and another task takes the nodes:
///
///     node_sequence nodes(schedule);
///     options.found = &nodes;
///     co_await when_all(discover(schedule, options), visit(nodes));   // while (auto n = co_await nodes.next()) ...
///
/// Each node comes once, with its route and the ports that were read until then. Unresponsive nodes are queried again at the end of
/// the discovery; only the final subnet contains those replies. The ports of a node have no peers here, because the indices of nodes
/// change until the end.
/// Lifetime: the schedule must outlive the sequence, and the sequence must outlive the discovery and the task that waits.
/// Threads:  the thread of the schedule only.
class node_sequence {
public:
    explicit node_sequence(coro::MADSchedule& schedule) noexcept : news_(schedule) {}

    /// Waits for the next node. Returns nullopt if the discovery has ended (successfully or not) and all nodes were taken, or if the
    /// wait was canceled.
    coro::task<std::optional<node>> next();

    /// Called by the discovery: adds a copy of the node, unless a node with this GUID was added before.
    void put(const node&);
    /// Called by the discovery when it has ended.
    void end() noexcept;

private:
    std::deque<node> waiting_;
    std::unordered_set<iba::guid> known_;
    coro::event news_; // set when a node was added or the discovery has ended
    bool has_ended_ = false;
};

} // namespace comad::discovery
