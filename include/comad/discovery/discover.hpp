// SPDX-License-Identifier: MIT
// discover.hpp - parallel directed-route discovery of a subnet as one awaitable task.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/subnet.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/port_keys.hpp>

namespace comad::discovery {

/// What a discovery under way has found so far; updated in the schedule's thread.
struct discovery_progress {
    std::size_t nodes = 0;
    std::size_t links = 0;
    std::size_t problems = 0;
};

struct discover_options {
    unsigned max_hops = mad::IBDRPath::max_hops; ///< nodes farther away become problems of kind too_far
    bool mlnx_ext_port_info = true; ///< ask devices that are known to have it whether a QDR link is FDR10 (SMP 0xff90)
    /// Each port's M_Key, in the SMPs to it; the default in the one that asks who it is. Null: none. Must outlive the task.
    const mad::port_keys* keys = nullptr;
    discovery_progress* progress = nullptr; ///< must outlive the task
};

/// Finds every node, port and link that directed routes from the local port reach, by SubnGets only.
///
/// Breadth first, so that routes are short from the beginning; no SMP is sent for a fact that is already known, except
/// that the two ends of a link may be asked at once. What does not answer becomes a problem in the result and the rest
/// is complete. A node that times out twice in a row after it had answered is not asked further.
/// Errors: only if the local port itself does not answer; then the error of that RPC.
/// Cancel: ends soon with what was found, and says so in the problems.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover(coro::MADSchedule& schedule, discover_options options = {});

} // namespace comad::discovery
