// SPDX-License-Identifier: MIT
// hierarchy.hpp - what ports say of their place in a chassis or of their plane themselves, by HierarchyInfo (IBA annex A15): levels whose
// meaning the template tells. Knows no vendor.
#pragma once
#include <comad/coro/task.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <span>
#include <string>
#include <vector>

namespace comad::coro {
class MADSchedule;
}

namespace comad::discovery {

struct port_hierarchy {
    port_ref where;
    u8 index = 0; ///< a port can be in several hierarchies
    iba::smp::HierarchyInfo told;
};

struct hierarchies {
    std::vector<port_hierarchy> told; ///< by node, port and index; those in use alone
    std::vector<failure> failures;

    std::span<const port_hierarchy> of(port_ref) const noexcept;
};

/// Asks each port that was read of a node that says that it has HierarchyInfo (IsHierarchyInfoSupported of port 0 of a switch, else of
/// the port), and no other, along the node's route: one SubnGet for each index in use.
/// Errors: none; what could not be read is in the failures. Cancel: ends soon; the rest is a failure.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<hierarchies> read_hierarchies(coro::MADSchedule&, const subnet&);

} // namespace comad::discovery
