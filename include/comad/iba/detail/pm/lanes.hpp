// SPDX-License-Identifier: MIT
// lanes.hpp - counters by virtual lane or service level: arrays with the lane or level as index (IBA 16.1.4, A13.6.5).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- By virtual lane ------------------------------------------------------------------------------------------------

namespace pm {

/// Packets received with one OpCode, by virtual lane.
struct PortVLOpPackets {
    u8 opCode = 0;         ///< the OpCode that is counted
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u16, 16> portVLOpPackets{};

    friend bool operator==(const PortVLOpPackets&, const PortVLOpPackets&) = default;
};

/// Data received with one OpCode, by virtual lane.
struct PortVLOpData {
    u8 opCode = 0;                      ///< the OpCode that is counted
    u8 portSelect = 0;                  ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;              ///< for a Set: counters to write
    std::array<u32, 16> portVLOpData{}; ///< kilobytes

    friend bool operator==(const PortVLOpData&, const PortVLOpData&) = default;
};

/// Flow control errors, by virtual lane.
struct PortVLXmitFlowCtlUpdateErrors {
    u8 reserved_0 = 0;
    u8 portSelect = 0;                                  ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;                              ///< for a Set: counters to write
    std::array<u8, 16> portVLXmitFlowCtlUpdateErrors{}; ///< 2 bits each

    friend bool operator==(const PortVLXmitFlowCtlUpdateErrors&, const PortVLXmitFlowCtlUpdateErrors&) = default;
};

/// Ticks during which a virtual lane had packets to send, but sent none.
struct PortVLXmitWaitCounters {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u16, 16> portVLXmitWait{};

    friend bool operator==(const PortVLXmitWaitCounters&, const PortVLXmitWaitCounters&) = default;
};

/// Packets that a switch discarded because of congestion, by virtual lane.
struct SwPortVLCongestion {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    std::array<u16, 16> swPortVLCongestion{};

    friend bool operator==(const SwPortVLCongestion&, const SwPortVLCongestion&) = default;
};

} // namespace pm

template <> struct described<pm::PortVLOpPackets> : std::true_type {
    using T = pm::PortVLOpPackets;
    // clang-format off
    static constexpr auto layout = describe<36>("PMPortVLOpPackets", "16.1.4.5",
        field<&T::opCode,          at{0},   8>{"opCode"},
        field<&T::portSelect,      at{1},   8>{"portSelect"},
        field<&T::counterSelect,   at{2},  16>{"counterSelect", show::hex},
        field<&T::portVLOpPackets, at{4}, 256>{"portVLOpPackets"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortVLOpPackets>
    : attribute_traits<0x0019, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortVLOpData> : std::true_type {
    using T = pm::PortVLOpData;
    // clang-format off
    static constexpr auto layout = describe<68>("PMPortVLOpData", "16.1.4.6",
        field<&T::opCode,        at{0},   8>{"opCode"},
        field<&T::portSelect,    at{1},   8>{"portSelect"},
        field<&T::counterSelect, at{2},  16>{"counterSelect", show::hex},
        field<&T::portVLOpData,  at{4}, 512>{"portVLOpData"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortVLOpData>
    : attribute_traits<0x001a, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortVLXmitFlowCtlUpdateErrors> : std::true_type {
    using T = pm::PortVLXmitFlowCtlUpdateErrors;
    // clang-format off
    static constexpr auto layout = describe<8>("PMPortVLXmitFlowCtlUpdateErrors", "16.1.4.7",
        reserved<&T::reserved_0,                 at{0},     8>{},
        field<&T::portSelect,                    at{1},     8>{"portSelect"},
        field<&T::counterSelect,                 at{2},    16>{"counterSelect", show::hex},
        field<&T::portVLXmitFlowCtlUpdateErrors, at{4, 0}, 32>{"portVLXmitFlowCtlUpdateErrors"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortVLXmitFlowCtlUpdateErrors>
    : attribute_traits<0x001b, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortVLXmitWaitCounters> : std::true_type {
    using T = pm::PortVLXmitWaitCounters;
    // clang-format off
    static constexpr auto layout = describe<36>("PMPortVLXmitWaitCounters", "16.1.4.8",
        reserved<&T::reserved_0,  at{0},   8>{},
        field<&T::portSelect,     at{1},   8>{"portSelect"},
        field<&T::counterSelect,  at{2},  16>{"counterSelect", show::hex},
        field<&T::portVLXmitWait, at{4}, 256>{"portVLXmitWait"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortVLXmitWaitCounters>
    : attribute_traits<0x001c, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::SwPortVLCongestion> : std::true_type {
    using T = pm::SwPortVLCongestion;
    // clang-format off
    static constexpr auto layout = describe<36>("PMSwPortVLCongestion", "16.1.4.9",
        reserved<&T::reserved_0,      at{0},   8>{},
        field<&T::portSelect,         at{1},   8>{"portSelect"},
        field<&T::counterSelect,      at{2},  16>{"counterSelect", show::hex},
        field<&T::swPortVLCongestion, at{4}, 256>{"swPortVLCongestion"});
    // clang-format on
};
template <>
struct attribute_of<pm::SwPortVLCongestion>
    : attribute_traits<0x0030, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

// ---- By service level -----------------------------------------------------------------------------------------------

namespace pm {

/// Data sent, by service level.
struct PortXmitDataSL {
    u8 reserved_0 = 0;
    u8 portSelect = 0;                    ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;                ///< for a Set: counters to write
    std::array<u32, 16> portXmitDataSL{}; ///< 4-byte words

    friend bool operator==(const PortXmitDataSL&, const PortXmitDataSL&) = default;
};

/// Data received, by service level.
struct PortRcvDataSL {
    u8 reserved_0 = 0;
    u8 portSelect = 0;                   ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;               ///< for a Set: counters to write
    std::array<u32, 16> portRcvDataSL{}; ///< 4-byte words

    friend bool operator==(const PortRcvDataSL&, const PortRcvDataSL&) = default;
};

} // namespace pm

template <> struct described<pm::PortXmitDataSL> : std::true_type {
    using T = pm::PortXmitDataSL;
    // clang-format off
    static constexpr auto layout = describe<68>("PMPortXmitDataSL", "A13.6.5",
        reserved<&T::reserved_0,  at{0},   8>{},
        field<&T::portSelect,     at{1},   8>{"portSelect"},
        field<&T::counterSelect,  at{2},  16>{"counterSelect", show::hex},
        field<&T::portXmitDataSL, at{4}, 512>{"portXmitDataSL"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortXmitDataSL>
    : attribute_traits<0x0036, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortRcvDataSL> : std::true_type {
    using T = pm::PortRcvDataSL;
    // clang-format off
    static constexpr auto layout = describe<68>("PMPortRcvDataSL", "A13.6.5",
        reserved<&T::reserved_0, at{0},   8>{},
        field<&T::portSelect,    at{1},   8>{"portSelect"},
        field<&T::counterSelect, at{2},  16>{"counterSelect", show::hex},
        field<&T::portRcvDataSL, at{4}, 512>{"portRcvDataSL"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortRcvDataSL>
    : attribute_traits<0x0037, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
