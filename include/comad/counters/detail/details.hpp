// SPDX-License-Identifier: MIT
// details.hpp - what a port can be asked for beside its counters, by type. Knows no PMA and no schedule.
#pragma once
#include <comad/iba/pm.hpp>

#include <tuple>
#include <type_traits>
#include <variant>

namespace comad::counters {

/// Devices have some of it (IBA 16.1.4, A10). Who asks for PortExtendedSpeedsCounters is told these, or of a port with RS
/// forward error correction PortExtendedSpeedsCountersRSFEC: one attribute that means two things.
using detail_types =
    std::tuple<iba::pm::PortRcvErrorDetails, iba::pm::PortXmitDiscardDetails, iba::pm::PortOpRcvCounters,
               iba::pm::PortFlowCtlCounters, iba::pm::PortVLOpPackets, iba::pm::PortVLOpData,
               iba::pm::PortVLXmitFlowCtlUpdateErrors, iba::pm::PortVLXmitWaitCounters, iba::pm::SwPortVLCongestion,
               iba::pm::PortXmitDataSL, iba::pm::PortRcvDataSL, iba::pm::PortRcvConCtrl, iba::pm::PortSLRcvFECN,
               iba::pm::PortSLRcvBECN, iba::pm::PortXmitConCtrl, iba::pm::PortVLXmitTimeCong,
               iba::pm::PortExtendedSpeedsCounters>;

namespace detail {
template <class T, class Tuple> inline constexpr unsigned index_in = 0;
template <class T, class First, class... Rest>
inline constexpr unsigned index_in<T, std::tuple<First, Rest...>> =
    std::is_same_v<T, First> ? 0 : 1 + index_in<T, std::tuple<Rest...>>;
template <class Tuple> struct variant_of;
template <class... T> struct variant_of<std::tuple<T...>> {
    using type = std::variant<T..., iba::pm::PortExtendedSpeedsCountersRSFEC>;
};
} // namespace detail

/// One of them, as told.
using port_detail = detail::variant_of<detail_types>::type;

/// Some of the detail_types.
class port_detail_set {
public:
    template <class T> port_detail_set& add() noexcept {
        bits_ |= bit<T>();
        return *this;
    }
    /// By its place among the detail_types.
    port_detail_set& add(unsigned index) noexcept {
        bits_ |= 1u << index;
        return *this;
    }
    template <class T> bool has() const noexcept { return bits_ & bit<T>(); }
    bool has(unsigned index) const noexcept { return bits_ >> index & 1; }
    bool empty() const noexcept { return bits_ == 0; }

private:
    template <class T> static constexpr u32 bit() noexcept {
        constexpr unsigned index = detail::index_in<T, detail_types>;
        static_assert(index < std::tuple_size_v<detail_types>);
        return 1u << index;
    }
    u32 bits_ = 0;
};

} // namespace comad::counters
