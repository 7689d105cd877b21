// SPDX-License-Identifier: MIT
// read_counters.hpp - reads the counters of one port as one awaitable task. Does not depend on a subnet.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/port_counters.hpp>

namespace comad::counters {

/// Reads counters from PortCountersExtended if the PMA supports it, and from PortCounters what that does not have: one Get or
/// two; none if the PMA has no counter of `wanted`. The result contains all counters of the attributes that were read.
/// `port`: portSelect; 255 is the sum of all ports, if `capabilities::all_ports` is set.
/// Errors:   those of PerformanceGet; then the result of the other Get is lost.
/// Lifetime: all arguments except the schedule are copied.
coro::task<mad::result<counter_values>> read_counters(coro::MADSchedule&, mad::IBPath to, capabilities can, u8 port,
                                                      counter_set wanted = counter_set::all(),
                                                      coro::rpc_options options = {});

} // namespace comad::counters
