// SPDX-License-Identifier: MIT
// node_sequence.hpp - the nodes of a discovery under way, one after the other as they are found. Knows no text form.
#pragma once
#include <comad/coro/event.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <deque>
#include <optional>
#include <unordered_set>

namespace comad::discovery {

/// Who works with nodes need not wait for the whole subnet: the discovery that has this in its options puts each node in here
/// as soon as it was asked for all that it says of itself, and a task beside it takes them out:
///
///     node_sequence nodes(schedule);
///     options.found = &nodes;
///     co_await when_all(discover(schedule, options), visit(nodes));   // while (auto n = co_await nodes.next()) ...
///
/// A node comes once, with its route and with the ports that were read until then; what did not answer is asked again at the
/// end, and only the subnet has that. Its links have no other ends here, for places change until the end.
/// Lifetime: the schedule outlives it, and it outlives the discovery and who waits. Threads: the schedule's alone.
class node_sequence {
public:
    explicit node_sequence(coro::MADSchedule& schedule) noexcept : news_(schedule) {}

    /// The next node; nothing when the discovery has ended, with or without success, and all were taken, or the wait was
    /// cancelled.
    coro::task<std::optional<node>> next();

    /// For the discovery: a copy of it, unless one with its GUID was there before.
    void put(const node&);
    void end() noexcept;

private:
    std::deque<node> waiting_;
    std::unordered_set<iba::guid> known_;
    coro::event news_; // a node waits, or it has ended
    bool has_ended_ = false;
};

} // namespace comad::discovery
