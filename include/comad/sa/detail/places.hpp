// SPDX-License-Identifier: MIT
// places.hpp - where directed routes lead, and what is at a LID, as the SA knows it. Asked once each.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/smp/node.hpp>

#include <map>
#include <unordered_map>
#include <vector>

namespace comad::sa::detail {

/// What the SA said of the subnet. One thread, as the schedule's, which must outlive it.
class places {
public:
    /// `local`: the LID of the port where routes begin.
    places(coro::MADSchedule& schedule, iba::lid local) : schedule_(schedule), local_(local) {}

    /// The LID of the node at the end of a path, a directed route hop by hop through LinkRecords.
    coro::task<mad::result<iba::lid>> lid_at(mad::any_path path);
    /// The node with this LID, of a CA the port.
    coro::task<mad::result<iba::smp::NodeInfo>> node_at(iba::lid LID);
    void learn(iba::lid LID, const iba::smp::NodeInfo& node) { nodes_[value(LID)] = node; }
    /// The subnet has changed.
    void forget() noexcept;
    /// Routes start at this LID from now on. Forgets everything.
    void start_at(iba::lid local) noexcept {
        local_ = local;
        forget();
    }

private:
    coro::MADSchedule& schedule_;
    iba::lid local_;
    std::map<std::vector<u8>, iba::lid> routes_; // by where they begin and their ports
    std::unordered_map<u16, iba::smp::NodeInfo> nodes_;
};

} // namespace comad::sa::detail
