// SPDX-License-Identifier: MIT
// unresponsive_nodes.hpp - checks whether nodes that did not reply in the discovery reply now. Does not depend on counters.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// Sends one SMP through each port whose neighbor did not reply when the subnet was discovered. The state of such a port does not change
/// when its neighbor replies again. Returns one line about the first reply: `S-... "leaf"[3]: the node on the other end of the link replies
/// again`; empty: none replies.
/// Cost:     one MAD for each of these ports, and its retries.
/// Cancel:   ends soon.
/// Lifetime: both arguments must outlive the task.
comad::coro::task<std::string> find_answer(session&, const comad::discovery::subnet&);

} // namespace ibtool
