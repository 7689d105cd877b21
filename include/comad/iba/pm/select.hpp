// SPDX-License-Identifier: MIT
// select.hpp - what PortCounters and PortCountersExtended have in common: the same counters, narrow and wide, and the bits
// by which a Set selects them (IBA 16.1.3.5, 16.1.4.11). Knows no PMA.
#pragma once
#include <comad/iba/pm/counters.hpp>

#include <cstddef>

namespace comad::iba::pm {

/// One counter of PortCountersExt. `Narrow`: the same in PortCounters; nullptr: it has none.
template <auto Wide, auto Narrow> struct counter_pair {
    unsigned bit;        ///< of PortCountersExt: in counterSelect; the second one if `is_additional`
    bool is_additional;  ///< only with IsAdditionalPortCountersExtendedSupported
    unsigned narrow_bit; ///< of PortCounters, in counterSelect; the second one if `is_in_second`
    bool is_in_second;
    static constexpr bool has_narrow = !std::is_same_v<decltype(Narrow), std::nullptr_t>;
};

/// Calls f(counter_pair) for each counter, in the order of PortCountersExt.
template <class F> constexpr void for_each_counter(F&& f) {
    using C = PortCounters;
    using E = PortCountersExt;
    // clang-format off
    f(counter_pair<&E::portXmitData,                 &C::portXmitData>                {0, false, 12, false});
    f(counter_pair<&E::portRcvData,                  &C::portRcvData>                 {1, false, 13, false});
    f(counter_pair<&E::portXmitPkts,                 &C::portXmitPkts>                {2, false, 14, false});
    f(counter_pair<&E::portRcvPkts,                  &C::portRcvPkts>                 {3, false, 15, false});
    f(counter_pair<&E::portUnicastXmitPkts,          nullptr>                         {4, false, 0, false});
    f(counter_pair<&E::portUnicastRcvPkts,           nullptr>                         {5, false, 0, false});
    f(counter_pair<&E::portMulticastXmitPkts,        nullptr>                         {6, false, 0, false});
    f(counter_pair<&E::portMulticastRcvPkts,         nullptr>                         {7, false, 0, false});
    f(counter_pair<&E::symbolErrorCounter,           &C::symbolErrorCounter>          {0, true, 0, false});
    f(counter_pair<&E::linkErrorRecoveryCounter,     &C::linkErrorRecoveryCounter>    {1, true, 1, false});
    f(counter_pair<&E::linkDownedCounter,            &C::linkDownedCounter>           {2, true, 2, false});
    f(counter_pair<&E::portRcvErrors,                &C::portRcvErrors>               {3, true, 3, false});
    f(counter_pair<&E::portRcvRemotePhysicalErrors,  &C::portRcvRemotePhysicalErrors> {4, true, 4, false});
    f(counter_pair<&E::portRcvSwitchRelayErrors,     &C::portRcvSwitchRelayErrors>    {5, true, 5, false});
    f(counter_pair<&E::portXmitDiscards,             &C::portXmitDiscards>            {6, true, 6, false});
    f(counter_pair<&E::portXmitConstraintErrors,     &C::portXmitConstraintErrors>    {7, true, 7, false});
    f(counter_pair<&E::portRcvConstraintErrors,      &C::portRcvConstraintErrors>     {8, true, 8, false});
    f(counter_pair<&E::localLinkIntegrityErrors,     &C::localLinkIntegrityErrors>    {9, true, 9, false});
    f(counter_pair<&E::excessiveBufferOverrunErrors, &C::excessiveBufferOverrunErrors>{10, true, 10, false});
    f(counter_pair<&E::VL15Dropped,                  &C::VL15Dropped>                 {11, true, 11, false});
    f(counter_pair<&E::portXmitWait,                 &C::portXmitWait>                {12, true, 0, true});
    f(counter_pair<&E::QP1Dropped,                   &C::QP1Dropped>                  {13, true, 1, true});
    // clang-format on
}

} // namespace comad::iba::pm
