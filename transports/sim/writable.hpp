// SPDX-License-Identifier: MIT
// writable.hpp - the components of PortInfo and SwitchInfo that are stored as a manager writes them (IBA 14.2.5.4, 14.2.5.6). State, LID,
// and link widths and speeds are not included, because the topology stores them.
#pragma once
#include <comad/iba/smp.hpp>

namespace comad::transports::sim {

/// Copies these members.
template <auto... Members, class T> void copy_members(T& to, const T& from) noexcept {
    ((to.*Members = from.*Members), ...);
}

/// Copies the written components of PortInfo; for an end port, also those that only end ports have.
inline void copy_written(iba::smp::PortInfo& to, const iba::smp::PortInfo& from, bool is_end_port) noexcept {
    using P = iba::smp::PortInfo;
    copy_members<&P::linkDownDefaultState, &P::neighborMTU, &P::masterSMSL, &P::initType, &P::VLHighLimit,
                 &P::VLStallCount, &P::HOQLife, &P::operationalVLs, &P::partitionEnforcementInbound,
                 &P::partitionEnforcementOutbound, &P::filterRawInbound, &P::filterRawOutbound, &P::localPhyErrors,
                 &P::overrunErrors>(to, from);
    if (!is_end_port) return;
    copy_members<&P::MKey, &P::GIDPrefix, &P::masterSMLID, &P::MKeyLeasePeriod, &P::MKeyProtectBits, &P::MKeyViolations,
                 &P::PKeyViolations, &P::QKeyViolations, &P::multicastPKeyTrapSuppressionEnabled, &P::subnetTimeOut>(
        to, from);
}

/// Copies the written components of SwitchInfo.
inline void copy_written(iba::smp::SwitchInfo& to, const iba::smp::SwitchInfo& from) noexcept {
    using W = iba::smp::SwitchInfo;
    copy_members<&W::linearFDBTop, &W::defaultPort, &W::defaultMulticastPrimaryPort, &W::defaultMulticastNotPrimaryPort,
                 &W::lifeTimeValue, &W::optimizedSLtoVLMappingProgramming, &W::multicastFDBTop>(to, from);
}

} // namespace comad::transports::sim
