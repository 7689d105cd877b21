// SPDX-License-Identifier: MIT
// port_reach.hpp - checks that a change of a port leaves this port, and that of the subnet manager, reachable. Writes nothing.
#pragma once
#include "commands/writing/port_change.hpp"
#include "session/port_view.hpp"

namespace ibtool {

/// Queries the fabric for the effect of a change. Throws std::runtime_error with one line if the port would become unreachable from the
/// local port, or the port of the subnet manager unreachable from the subnet. All other changes pass: a link that trains again carries SMPs
/// again, and the local port replies to its own host without a link.
query_task<void> require_reachable_after(session&, const port_view& before, const port_change&);

} // namespace ibtool
