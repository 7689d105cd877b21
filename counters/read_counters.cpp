// SPDX-License-Identifier: MIT
// read_counters.cpp - reads the counters of a port, with one Get for each attribute.
#include "read_attributes.hpp"
#include <comad/counters/detail/read_counters.hpp>

namespace comad::counters {

using iba::pm::PortCounters;
using iba::pm::PortCountersExt;

coro::task<mad::result<attribute_replies>> read_attributes(coro::MADSchedule& schedule, mad::IBPath to, u8 port,
                                                           attributes_to_read which, coro::rpc_options options) {
    attribute_replies replies;
    if (which.wide) {
        PortCountersExt request;
        request.portSelect = port;
        BOOST_OUTCOME_CO_TRY(replies.wide, co_await schedule.PerformanceGet<PortCountersExt>(request, to, 0, options));
    }
    if (which.narrow) {
        PortCounters request;
        request.portSelect = port;
        BOOST_OUTCOME_CO_TRY(replies.narrow, co_await schedule.PerformanceGet<PortCounters>(request, to, 0, options));
    }
    co_return replies;
}

attributes_to_read attributes_with(counter_set wanted, const capabilities& can) noexcept {
    const counter_set by_wide = wide_counters(can);
    return {.narrow = wanted.without(by_wide).meets(narrow_counters(can)), .wide = wanted.meets(by_wide)};
}

counter_values values_of(const attribute_replies& replies, const capabilities& can) noexcept {
    counter_values all;
    if (replies.wide) all.take(*replies.wide, can);
    if (replies.narrow) all.take(*replies.narrow, can);
    return all;
}

coro::task<mad::result<counter_values>> read_counters(coro::MADSchedule& schedule, mad::IBPath to, capabilities can,
                                                      u8 port, counter_set wanted, coro::rpc_options options) {
    const attributes_to_read which = attributes_with(wanted, can);
    BOOST_OUTCOME_CO_TRY(const auto replies, co_await read_attributes(schedule, to, port, which, options));
    co_return values_of(replies, can);
}

} // namespace comad::counters
