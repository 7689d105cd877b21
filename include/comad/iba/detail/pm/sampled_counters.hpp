// SPDX-License-Identifier: MIT
// sampled_counters.hpp - the counters of PortSamplesControl as arrays, and the quantities that every PMA can sample (IBA 16.1.3.2).
#pragma once
#include <comad/iba/detail/pm/samples.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace comad::iba::pm {

/// The states of a sampling mechanism, in sampleStatus.
enum class SampleStatus : u8 {
    done = 0,    ///< it is idle, and the results are complete
    delayed = 1, ///< the interval starts after sampleStart ticks
    running = 2,
};

inline constexpr std::size_t sample_counters = 15;

/// The counterSelect of each counter, in order.
inline constexpr std::array<u16 PortSamplesCtl::*, sample_counters> counter_selects{
    &PortSamplesCtl::counterSelect0,  &PortSamplesCtl::counterSelect1,  &PortSamplesCtl::counterSelect2,
    &PortSamplesCtl::counterSelect3,  &PortSamplesCtl::counterSelect4,  &PortSamplesCtl::counterSelect5,
    &PortSamplesCtl::counterSelect6,  &PortSamplesCtl::counterSelect7,  &PortSamplesCtl::counterSelect8,
    &PortSamplesCtl::counterSelect9,  &PortSamplesCtl::counterSelect10, &PortSamplesCtl::counterSelect11,
    &PortSamplesCtl::counterSelect12, &PortSamplesCtl::counterSelect13, &PortSamplesCtl::counterSelect14};
/// The counterMask of each counter, in order. 0: the device does not have the counter.
inline constexpr std::array<u8 PortSamplesCtl::*, sample_counters> counter_masks{
    &PortSamplesCtl::counterMask0,  &PortSamplesCtl::counterMask1,  &PortSamplesCtl::counterMask2,
    &PortSamplesCtl::counterMask3,  &PortSamplesCtl::counterMask4,  &PortSamplesCtl::counterMask5,
    &PortSamplesCtl::counterMask6,  &PortSamplesCtl::counterMask7,  &PortSamplesCtl::counterMask8,
    &PortSamplesCtl::counterMask9,  &PortSamplesCtl::counterMask10, &PortSamplesCtl::counterMask11,
    &PortSamplesCtl::counterMask12, &PortSamplesCtl::counterMask13, &PortSamplesCtl::counterMask14};

/// A quantity that counterSelect can name.
struct sampled_quantity {
    std::string_view name;
    u16 select;
};
/// The quantities that every PMA can sample; the values are from the kernel's ib_pma.h.
inline constexpr std::array<sampled_quantity, 5> sampled_quantities{
    {{"PortXmitData", 1}, {"PortRcvData", 2}, {"PortXmitPkts", 3}, {"PortRcvPkts", 4}, {"PortXmitWait", 5}}};

/// The bits of a counter with this counterWidth.
constexpr unsigned bits_of_width(u8 counterWidth) noexcept { return 16 + 4u * counterWidth; }

} // namespace comad::iba::pm
