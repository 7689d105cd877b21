// SPDX-License-Identifier: MIT
// performance.hpp - what the cables of a simulated subnet carry, and what its performance management agents can do.
// Knows no counter.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::transports::sim {

/// What cables carry while their links are up, in whatever state: as many packets in each direction, of a size that the
/// seed draws for each sender. Some cables are bad: at both their ends symbol errors count, and what follows from them.
struct load {
    double packets = 0;          ///< a second, in each direction
    double symbol_errors = 0;    ///< a second, at each end of a bad cable
    double bad_cables = 1.0 / 8; ///< their share of all
    u64 seed = 1;
};

/// What a PMA can do beside ClassPortInfo and PortCounters, as bits of a set. What it cannot do is refused or, of single
/// counters, always 0. ClassPortInfo says what it has a bit for (IBA 16.1.3.1).
namespace pma_ability {
inline constexpr u8 all_ports = 1 << 0;       ///< portSelect 255: IsAllPortSelectSupported
inline constexpr u8 xmit_wait = 1 << 1;       ///< portXmitWait: IsPortCountersXmitWaitSupported
inline constexpr u8 qp1_dropped = 1 << 2;     ///< QP1Dropped: IsQP1DroppedSupported
inline constexpr u8 extended = 1 << 3;        ///< PortCountersExt: IsExtendedWidthSupportedNoIETF, and with ...
inline constexpr u8 unicast = 1 << 4;         ///< ... its unicast and multicast packets IsExtendedWidthSupported
inline constexpr u8 extended_errors = 1 << 5; ///< its further counters: IsAdditionalPortCountersExtendedSupported
inline constexpr u8 groups = 1 << 6; ///< all other attributes: details, by VL, service level and lane, congestion
inline constexpr u8 RS_FEC = 1 << 7; ///< PortExtendedSpeedsCountersRSFEC: IsRSFECModeSupported
inline constexpr u8 none = 0, all = 0xff;
} // namespace pma_ability

} // namespace comad::transports::sim
