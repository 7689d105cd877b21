// SPDX-License-Identifier: MIT
// port_reach.hpp - whether a change of a port leaves that port, and the subnet manager's, reachable. Writes nothing.
#pragma once
#include "commands/writing/port_change.hpp"
#include "session/port_view.hpp"

namespace ibtool {

/// Queries the fabric for what the change would do. Throws std::runtime_error with one line if it would make the port unreachable
/// from here, or the port of the subnet manager unreachable from the subnet. Every other change passes: a link that trains again
/// carries SMPs again, and the local port answers its own host without a link.
query_task<void> require_reachable_after(session&, const port_view& before, const port_change&);

} // namespace ibtool
