// SPDX-License-Identifier: MIT
// bench_targets.hpp - selects the targets of bench: those that the user names or a discovery finds, if they reply. Measures nothing.
#pragma once
#include "commands/measuring/bench_text.hpp"
#include "session/session.hpp"
#include "session/target.hpp"

#include <vector>

namespace ibtool {

/// The nodes of a discovery that become targets; none selected: no discovery.
struct target_choice {
    bool all = false, switches = false, cas = false;
    bool by_lid = false; ///< also send SMPs by LID instead of by directed routes

    bool discovers() const noexcept { return all || switches || cas; }
};

/// Queries each of the named or discovered targets once. Those with a correct reply become targets of the report, in this order; the others
/// become problems. Returns true if there is at least one target. Throws std::runtime_error if the local port does not reply to a
/// discovery, and for a route to a port without a LID if a LID is needed.
comad::coro::task<bool> find_targets(session&, const target_choice&, bench_report&, std::vector<command_target>);

} // namespace ibtool
