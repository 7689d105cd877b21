// SPDX-License-Identifier: MIT
// read_counters.hpp - the counters of one port by whichever attributes tell them best, as one awaitable task. Knows no subnet.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/port_counters.hpp>

namespace comad::counters {

/// PortCountersExtended where the PMA has it, PortCounters for what that does not tell: one Get or two, none if the PMA
/// has nothing of `wanted`. Both tell more than that.
/// Errors: those of PerformanceGet; then of what the first one told nothing is given.
/// Lifetime: all but the schedule is copied.
coro::task<mad::result<port_counters>> read_counters(coro::MADSchedule&, mad::IBPath to, capabilities can, u8 port,
                                                     counter_set wanted = counter_set::all(),
                                                     coro::rpc_options options = {});

} // namespace comad::counters
