// SPDX-License-Identifier: MIT
// lid_lookup.hpp - resolves directed routes to LIDs, and LIDs to nodes, by queries to the SA. It caches the replies.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/smp/node.hpp>

#include <map>
#include <unordered_map>
#include <vector>

namespace comad::sa::detail {

/// Locations in the subnet that the SA has reported.
/// Lifetime: the schedule must outlive it. Threads: only the thread of the schedule.
class places {
public:
    /// `local`: the LID of the port where directed routes start.
    places(coro::MADSchedule& schedule, iba::lid local) : schedule_(schedule), local_(local) {}

    /// Returns the LID of the node at the end of a path. It follows a directed route hop by hop through LinkRecords.
    coro::task<mad::result<iba::lid>> lid_at(mad::any_path path);
    /// Returns the NodeInfo of the node with this LID; the LID of a CA identifies the port.
    coro::task<mad::result<iba::smp::NodeInfo>> node_at(iba::lid LID);
    /// Adds a NodeInfo to the cache.
    void learn(iba::lid LID, const iba::smp::NodeInfo& node) { nodes_[value(LID)] = node; }
    /// Clears the cache after the subnet has changed.
    void forget() noexcept;
    /// Sets the LID where routes start, and clears the cache.
    void start_at(iba::lid local) noexcept {
        local_ = local;
        forget();
    }

private:
    coro::MADSchedule& schedule_;
    iba::lid local_;
    std::map<std::vector<u8>, iba::lid> routes_; // key: the LID where the route starts and its ports
    std::unordered_map<u16, iba::smp::NodeInfo> nodes_;
};

} // namespace comad::sa::detail
