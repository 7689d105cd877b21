// SPDX-License-Identifier: MIT
// bench_targets.hpp - selects the targets of bench: the targets that the user names, or nodes of a discovery. Targets must reply once.
// Measures nothing.
#pragma once
#include "commands/measuring/bench_report.hpp"
#include "input/request.hpp"
#include "session/selection.hpp"
#include "session/session.hpp"
#include "session/target.hpp"

#include <string>
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

/// A possible target, and its name in the output.
struct bench_target {
    command_target target;
    std::string name; ///< any bytes
};

/// Sends the RPCs of the report to each target once: to the discovered ones if any kind of node is selected, else to the named ones. Before
/// a Set that writes the whole attribute, reads the attribute, so that the Set keeps the other fields. Targets with correct replies become
/// targets of the report, in this order; the others become problems of the report. Returns whether there is at least one target.
/// `requests`: the RPCs of the report as the user named them.
/// Errors: std::runtime_error if the local port does not reply to a discovery. A port without a LID is a problem of the report if a LID
/// is needed.
comad::coro::task<bool> find_targets(session&, const target_choice&, const std::vector<request>& requests,
                                     bench_report&, std::vector<bench_target>);

/// Returns whether an RPC is an SMP.
inline bool sends_smp(const load_rpc& rpc) { return rpc.kind.mgmt_class == comad::iba::MgmtClass::SubnLID; }

} // namespace ibtool
