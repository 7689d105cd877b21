// SPDX-License-Identifier: MIT
// select.hpp - the counters that PortCounters and PortCountersExtended have in common, narrow and wide, and the bits
// by which a Set selects them (IBA 16.1.3.5, 16.1.4.11).
#pragma once
#include <comad/iba/detail/pm/counters.hpp>

#include <cstddef>
#include <type_traits>

namespace comad::iba::pm {

/// One counter of PortCountersExt. `Narrow`: the same counter in PortCounters, or nullptr if PortCounters does not
/// have it.
template <auto Wide, auto Narrow> struct counter_pair {
    bool is_additional;  ///< PortCountersExt has it only with IsAdditionalPortCountersExtendedSupported
    unsigned narrow_bit; ///< bit in counterSelect of PortCounters; from 16 on, bit in counterSelect2
    static constexpr bool has_narrow = !std::is_same_v<decltype(Narrow), std::nullptr_t>;
};

/// Calls f(counter_pair) for each counter, in the order of PortCountersExt.
template <class F> constexpr void for_each_counter(F&& f) {
    using C = PortCounters;
    using E = PortCountersExt;
    // clang-format off
    f(counter_pair<&E::portXmitData,                 &C::portXmitData>                {false, 12});
    f(counter_pair<&E::portRcvData,                  &C::portRcvData>                 {false, 13});
    f(counter_pair<&E::portXmitPkts,                 &C::portXmitPkts>                {false, 14});
    f(counter_pair<&E::portRcvPkts,                  &C::portRcvPkts>                 {false, 15});
    f(counter_pair<&E::portUnicastXmitPkts,          nullptr>                         {false, 0});
    f(counter_pair<&E::portUnicastRcvPkts,           nullptr>                         {false, 0});
    f(counter_pair<&E::portMulticastXmitPkts,        nullptr>                         {false, 0});
    f(counter_pair<&E::portMulticastRcvPkts,         nullptr>                         {false, 0});
    f(counter_pair<&E::symbolErrorCounter,           &C::symbolErrorCounter>          {true, 0});
    f(counter_pair<&E::linkErrorRecoveryCounter,     &C::linkErrorRecoveryCounter>    {true, 1});
    f(counter_pair<&E::linkDownedCounter,            &C::linkDownedCounter>           {true, 2});
    f(counter_pair<&E::portRcvErrors,                &C::portRcvErrors>               {true, 3});
    f(counter_pair<&E::portRcvRemotePhysicalErrors,  &C::portRcvRemotePhysicalErrors> {true, 4});
    f(counter_pair<&E::portRcvSwitchRelayErrors,     &C::portRcvSwitchRelayErrors>    {true, 5});
    f(counter_pair<&E::portXmitDiscards,             &C::portXmitDiscards>            {true, 6});
    f(counter_pair<&E::portXmitConstraintErrors,     &C::portXmitConstraintErrors>    {true, 7});
    f(counter_pair<&E::portRcvConstraintErrors,      &C::portRcvConstraintErrors>     {true, 8});
    f(counter_pair<&E::localLinkIntegrityErrors,     &C::localLinkIntegrityErrors>    {true, 9});
    f(counter_pair<&E::excessiveBufferOverrunErrors, &C::excessiveBufferOverrunErrors>{true, 10});
    f(counter_pair<&E::VL15Dropped,                  &C::VL15Dropped>                 {true, 11});
    f(counter_pair<&E::portXmitWait,                 &C::portXmitWait>                {true, 16});
    f(counter_pair<&E::QP1Dropped,                   &C::QP1Dropped>                  {true, 17});
    // clang-format on
}

} // namespace comad::iba::pm
