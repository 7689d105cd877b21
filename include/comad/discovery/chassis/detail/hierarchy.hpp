// SPDX-License-Identifier: MIT
// hierarchy.hpp - reads HierarchyInfo (IBA annex A15): what ports report about their position in a chassis, or about their plane. The
// template GUID defines the meaning of the levels. Does not depend on a vendor.
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

/// One HierarchyInfo of a port.
struct port_hierarchy {
    port_ref where;
    u8 index = 0; ///< a port can be in several hierarchies
    iba::smp::HierarchyInfo info;
};

/// The HierarchyInfo of all ports of a subnet.
struct hierarchies {
    std::vector<port_hierarchy> entries; ///< sorted by node, port and index; only indices in use
    std::vector<failure> failures;

    std::span<const port_hierarchy> of(port_ref) const noexcept;
};

/// Reads HierarchyInfo along the route of each node, with one SubnGet for each index in use. Queries all known ports of nodes that set
/// IsHierarchyInfoSupported (in port 0 of a switch, else in the port), and no other ports.
/// Errors:   none; what could not be read is in `failures`.
/// Cancel:   ends soon; the rest is a failure.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<hierarchies> read_hierarchies(coro::MADSchedule&, const subnet&);

} // namespace comad::discovery
