// SPDX-License-Identifier: MIT
// bench_targets.hpp - selects the targets of bench: the targets that the user names, or nodes of a discovery. Targets must reply once.
// Measures nothing.
#pragma once
#include "commands/measuring/bench_text.hpp"
#include "session/selection.hpp"
#include "session/session.hpp"
#include "session/target.hpp"

#include <vector>

namespace ibtool {

/// The nodes of a discovery that become targets. If no kind is selected, no discovery takes place.
struct target_choice {
    bool all = false, switches = false, cas = false;
    bool by_lid = false; ///< send SMPs by LID instead of by directed route

    std::string name_map{}; ///< file with the names of nodes; empty: as read_node_names()
    /// Selects some of these nodes. If it does not select everything, nodes of all kinds are targets, unless kinds are given.
    subnet_selection selected{};

    bool has_kind() const noexcept { return all || switches || cas; }
    bool discovers() const noexcept { return has_kind() || !selected.is_all(); }
};

/// Queries each target once: the discovered ones if any kind of node is selected, else the named ones. Targets with a correct reply
/// become targets of the report, in this order; the others become problems of the report. Returns whether there is at least one target.
/// Errors: std::runtime_error if the local port does not reply to a discovery. A port without a LID is a problem of the report if a LID
/// is needed.
comad::coro::task<bool> find_targets(session&, const target_choice&, bench_report&, std::vector<command_target>);

} // namespace ibtool
