// SPDX-License-Identifier: MIT
// read_counters.cpp - one or two Gets.
#include <comad/counters/detail/read_counters.hpp>
#include <comad/iba/pm.hpp>

namespace comad::counters {

coro::task<mad::result<port_counters>> read_counters(coro::MADSchedule& schedule, mad::IBPath to, capabilities can,
                                                     u8 port, counter_set wanted, coro::rpc_options options) {
    port_counters all;
    const counter_set by_wide = wide_counters(can);
    if (wanted.meets(by_wide)) {
        iba::pm::PortCountersExt which;
        which.portSelect = port;
        BOOST_OUTCOME_CO_TRY(const auto wide,
                             co_await schedule.PerformanceGet<iba::pm::PortCountersExt>(which, to, 0, options));
        all.take(wide, can);
    }
    if (wanted.without(by_wide).meets(narrow_counters(can))) {
        iba::pm::PortCounters which;
        which.portSelect = port;
        BOOST_OUTCOME_CO_TRY(const auto narrow,
                             co_await schedule.PerformanceGet<iba::pm::PortCounters>(which, to, 0, options));
        all.take(narrow, can);
    }
    co_return all;
}

} // namespace comad::counters
