// SPDX-License-Identifier: MIT
// silent_places.hpp - whether a node answers now that did not answer the discovery. Knows no counter.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// Sends one SMP through each port behind which nothing answered when the subnet was discovered. The state of such a port does not
/// change when the node behind it answers again. Returns one line about the first answer: `S-... "leaf"[3]: the node on the
/// other end of the link replies again`; empty: nothing answers.
/// Cost: one MAD for each of these ports, and its repetitions. Cancel: ends soon. Lifetime: both must outlive the task.
comad::coro::task<std::string> find_answer(session&, const comad::discovery::subnet&);

} // namespace ibtool
