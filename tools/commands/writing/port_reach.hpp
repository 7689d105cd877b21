// SPDX-License-Identifier: MIT
// port_reach.hpp - checks that a port and the subnet manager stay reachable after a change of the port. Writes nothing.
#pragma once
#include "commands/writing/port_change.hpp"
#include "session/port_view.hpp"

namespace ibtool {

/// Queries the fabric to predict the effect of a change. Throws std::runtime_error with one line if the port could no longer be reached
/// from the local port, or the subnet manager no longer from the subnet. Accepts all other changes: a link that trains again carries SMPs
/// again, and the local port replies to its own host without a link.
query_task<void> require_reachable_after(session&, const port_view& before, const port_change&);

} // namespace ibtool
