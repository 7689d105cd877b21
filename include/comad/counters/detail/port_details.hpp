// SPDX-License-Identifier: MIT
// port_details.hpp - the performance attributes that a sweep can read in addition to a port's counters, as types. Sends nothing.
#pragma once
#include <comad/iba/pm.hpp>

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

namespace comad::counters {

/// The optional attributes (IBA 16.1.4, A10). A query for PortExtendedSpeedsCounters returns PortExtendedSpeedsCountersRSFEC if the
/// port uses RS forward error correction: the two share an attribute ID.
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
constexpr std::string_view without_prefix(std::string_view name) { return name.substr(name.starts_with("PM") ? 2 : 0); }
} // namespace detail

/// The name of the attribute that a structure holds: the name of the structure without the prefix PM.
template <class T> inline constexpr std::string_view attribute_name = detail::without_prefix(iba::info_of<T>.name);

/// A reply to a query for one of the detail_types.
using port_detail = detail::variant_of<detail_types>::type;

/// A set of detail_types.
class port_detail_set {
public:
    template <class T> port_detail_set& add() noexcept {
        bits_ |= bit<T>();
        return *this;
    }
    /// Adds a type by its index in detail_types.
    port_detail_set& add(unsigned index) noexcept {
        bits_ |= 1u << index;
        return *this;
    }
    template <class T> bool has() const noexcept { return bits_ & bit<T>(); }
    bool has(unsigned index) const noexcept { return bits_ >> index & 1; }
    bool empty() const noexcept { return bits_ == 0; }
    /// All types.
    static port_detail_set all() noexcept {
        port_detail_set set;
        set.bits_ = (u32{1} << std::tuple_size_v<detail_types>)-1;
        return set;
    }

private:
    template <class T> static constexpr u32 bit() noexcept {
        constexpr unsigned index = detail::index_in<T, detail_types>;
        static_assert(index < std::tuple_size_v<detail_types>, "not one of the detail_types");
        return 1u << index;
    }
    u32 bits_ = 0;
};

namespace detail {
template <class... T> constexpr auto names_of(const std::tuple<T...>*) {
    return std::array<std::string_view, sizeof...(T)>{attribute_name<T>...};
}
} // namespace detail
/// The names of the detail_types, in their order.
inline constexpr auto detail_names = detail::names_of(static_cast<const detail_types*>(nullptr));

} // namespace comad::counters
