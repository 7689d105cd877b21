// SPDX-License-Identifier: MIT
// congestion.hpp - performance counters of congestion (IBA A10; positions as in libibmad, names and order as in ibis
// and the option masks of PortSamplesControl).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Congestion notifications ---------------------------------------------------------------------------------------

namespace pm {

/// Packets received with a congestion notification.
struct PortRcvConCtrl {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u32 portPktRcvFECN = 0;
    u32 portPktRcvBECN = 0;

    friend bool operator==(const PortRcvConCtrl&, const PortRcvConCtrl&) = default;
};

/// Packets received with FECN, by service level.
struct PortSLRcvFECN {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u32, 16> portSLRcvFECN{};

    friend bool operator==(const PortSLRcvFECN&, const PortSLRcvFECN&) = default;
};

/// Packets received with BECN, by service level.
struct PortSLRcvBECN {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u32, 16> portSLRcvBECN{};

    friend bool operator==(const PortSLRcvBECN&, const PortSLRcvBECN&) = default;
};

} // namespace pm

template <> struct described<pm::PortRcvConCtrl> : std::true_type {
    using T = pm::PortRcvConCtrl;
    // clang-format off
    static constexpr auto layout = describe<12>("PMPortRcvConCtrl", "A10, libibmad",
        reserved<&T::reserved_0,  at{0},  8>{},
        field<&T::portSelect,     at{1},  8>{"portSelect"},
        field<&T::counterSelect,  at{2}, 16>{"counterSelect", show::hex},
        field<&T::portPktRcvFECN, at{4}, 32>{"portPktRcvFECN"},
        field<&T::portPktRcvBECN, at{8}, 32>{"portPktRcvBECN"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortRcvConCtrl>
    : attribute_traits<0x0031, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortSLRcvFECN> : std::true_type {
    using T = pm::PortSLRcvFECN;
    // clang-format off
    static constexpr auto layout = describe<68>("PMPortSLRcvFECN", "A10, libibmad",
        reserved<&T::reserved_0, at{0},   8>{},
        field<&T::portSelect,    at{1},   8>{"portSelect"},
        field<&T::counterSelect, at{2},  16>{"counterSelect", show::hex},
        field<&T::portSLRcvFECN, at{4}, 512>{"portSLRcvFECN"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortSLRcvFECN>
    : attribute_traits<0x0032, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortSLRcvBECN> : std::true_type {
    using T = pm::PortSLRcvBECN;
    // clang-format off
    static constexpr auto layout = describe<68>("PMPortSLRcvBECN", "A10, libibmad",
        reserved<&T::reserved_0, at{0},   8>{},
        field<&T::portSelect,    at{1},   8>{"portSelect"},
        field<&T::counterSelect, at{2},  16>{"counterSelect", show::hex},
        field<&T::portSLRcvBECN, at{4}, 512>{"portSLRcvBECN"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortSLRcvBECN>
    : attribute_traits<0x0033, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

// ---- Congestion time ------------------------------------------------------------------------------------------------

namespace pm {

/// Time during which the port was congested.
struct PortXmitConCtrl {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u32 portXmitTimeCong = 0;

    friend bool operator==(const PortXmitConCtrl&, const PortXmitConCtrl&) = default;
};

/// Time during which each data virtual lane was congested.
struct PortVLXmitTimeCong {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u32, 15> portVLXmitTimeCong{};

    friend bool operator==(const PortVLXmitTimeCong&, const PortVLXmitTimeCong&) = default;
};

} // namespace pm

template <> struct described<pm::PortXmitConCtrl> : std::true_type {
    using T = pm::PortXmitConCtrl;
    // clang-format off
    static constexpr auto layout = describe<8>("PMPortXmitConCtrl", "A10, libibmad",
        reserved<&T::reserved_0,    at{0},  8>{},
        field<&T::portSelect,       at{1},  8>{"portSelect"},
        field<&T::counterSelect,    at{2}, 16>{"counterSelect", show::hex},
        field<&T::portXmitTimeCong, at{4}, 32>{"portXmitTimeCong"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortXmitConCtrl>
    : attribute_traits<0x0034, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortVLXmitTimeCong> : std::true_type {
    using T = pm::PortVLXmitTimeCong;
    // clang-format off
    static constexpr auto layout = describe<64>("PMPortVLXmitTimeCong", "A10, libibmad",
        reserved<&T::reserved_0,      at{0},   8>{},
        field<&T::portSelect,         at{1},   8>{"portSelect"},
        field<&T::counterSelect,      at{2},  16>{"counterSelect", show::hex},
        field<&T::portVLXmitTimeCong, at{4}, 480>{"portVLXmitTimeCong"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortVLXmitTimeCong>
    : attribute_traits<0x0035, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
