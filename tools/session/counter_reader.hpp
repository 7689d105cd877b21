// SPDX-License-Identifier: MIT
// counter_reader.hpp - the counters of one port by whichever attributes tell them best. Knows no subnet.
#pragma once
#include "session/counter_questions.hpp"
#include <comad/counters/port_counters.hpp>

namespace ibtool {

/// PortCountersExtended where the performance management has it, PortCounters for what that does not tell.
asked<comad::counters::port_counters> read_counters(comad::coro::MADSchedule&, comad::mad::IBPath to,
                                                    comad::counters::abilities, comad::u8 port);

} // namespace ibtool
