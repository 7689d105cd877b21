// SPDX-License-Identifier: MIT
// missing_neighbors.hpp - names the nodes that did not reply to a discovery, from the records of the SA.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/subnet.hpp>

namespace ibtool {

/// Adds the names of unresponsive neighbors to the failures of a discovery: `no reply from the neighbor (in the SA's records: "h-0003
/// HCA-1")`. The SA keeps the records of a node until it finds that the node is gone. The text of a failure gets the name of its own
/// neighbor, the cause gets the names of the first neighbors, so that equal causes stay equal. Does nothing without an SA.
/// Cost:     two SA queries for each of the first 16 unresponsive neighbors; ends with the first query that fails.
/// Lifetime: both arguments must outlive the task.
comad::coro::task<void> name_missing_neighbors(session&, comad::discovery::subnet&);

} // namespace ibtool
