// SPDX-License-Identifier: MIT
// bench_targets.hpp - whom bench asks: who is named, or what a discovery finds, as far as it answers. Measures nothing.
#pragma once
#include "commands/measuring/bench_text.hpp"
#include "session/session.hpp"
#include "session/target.hpp"

#include <vector>

namespace ibtool {

/// What of a discovery is asked; none: there is none.
struct target_choice {
    bool all = false, switches = false, cas = false;
    bool by_lid = false; ///< SMPs, too, and not by route

    bool discovers() const noexcept { return all || switches || cas; }
};

/// Asks each of these, or of what is discovered, once. Whoever answers as it should becomes a target of the report, in this
/// order, and whoever does not a problem. True if there is a target. Throws std::runtime_error if the local port does not
/// answer a discovery, and for a route to a port that has no LID where one is needed.
comad::coro::task<bool> find_targets(session&, const target_choice&, bench_report&, std::vector<command_target>);

} // namespace ibtool
