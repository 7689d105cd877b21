// SPDX-License-Identifier: MIT
// counter_reader.cpp - one or two Gets.
#include "session/counter_reader.hpp"

namespace ibtool {

namespace pm = comad::iba::pm;
namespace counters = comad::counters;

asked<counters::port_counters> read_counters(comad::coro::MADSchedule& schedule, comad::mad::IBPath to,
                                             counters::abilities can, comad::u8 port) {
    counters::port_counters all;
    if (can.extended) {
        pm::PortCountersExt which;
        which.portSelect = port;
        BOOST_OUTCOME_CO_TRY(const auto wide, co_await schedule.PerformanceGet<pm::PortCountersExt>(which, to));
        all.take(wide, can);
    }
    if (!can.additional) {
        pm::PortCounters which;
        which.portSelect = port;
        BOOST_OUTCOME_CO_TRY(const auto narrow, co_await schedule.PerformanceGet<pm::PortCounters>(which, to));
        all.take(narrow, can);
    }
    co_return all;
}

} // namespace ibtool
