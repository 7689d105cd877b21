// SPDX-License-Identifier: MIT
// read_attributes.hpp - reads PortCounters and PortCountersExtended of a port without conversion. Does not depend on a subnet.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/port_counters.hpp>

#include <optional>

namespace comad::counters {

/// The attributes to read.
struct attributes_to_read {
    bool narrow = false; ///< PortCounters
    bool wide = false;   ///< PortCountersExtended
};

/// The replies to the Gets; nullopt for an attribute that was not read.
struct attribute_replies {
    std::optional<iba::pm::PortCounters> narrow;
    std::optional<iba::pm::PortCountersExt> wide;
};

/// Returns the smallest set of attributes that has all counters of `wanted` that the PMA supports.
attributes_to_read attributes_with(counter_set wanted, const capabilities&) noexcept;

/// Reads the selected attributes of a port.
/// Errors:   those of PerformanceGet; then the other reply is lost.
/// Lifetime: all arguments except the schedule are copied.
coro::task<mad::result<attribute_replies>> read_attributes(coro::MADSchedule&, mad::IBPath to, u8 port,
                                                           attributes_to_read which, coro::rpc_options options);

/// Returns the counters of both replies. If both have a counter, the value is from PortCountersExtended.
counter_values values_of(const attribute_replies&, const capabilities&) noexcept;

} // namespace comad::counters
