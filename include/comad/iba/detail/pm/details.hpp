// SPDX-License-Identifier: MIT
// details.hpp - counters of errors and discards by cause, and of packets by kind (IBA 16.1.4.1 to 16.1.4.4).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

namespace comad::iba {

// ---- Errors and discards --------------------------------------------------------------------------------------------

namespace pm {

/// The errors in PortCounters.portRcvErrors, by cause.
struct PortRcvErrorDetails {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u16 portLocalPhysicalErrors = 0;
    u16 portMalformedPacketErrors = 0;
    u16 portBufferOverrunErrors = 0;
    u16 portDLIDMappingErrors = 0;
    u16 portVLMappingErrors = 0;
    u16 portLoopingErrors = 0;

    friend bool operator==(const PortRcvErrorDetails&, const PortRcvErrorDetails&) = default;
};

/// The discards in PortCounters.portXmitDiscards, by cause.
struct PortXmitDiscardDetails {
    u8 reserved_0 = 0;
    u8 portSelect = 0;            ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;        ///< for a Set: counters to write
    u16 portInactiveDiscards = 0; ///< the port was not active
    u16 portNeighborMTUDiscards = 0;
    u16 portSwLifetimeLimitDiscards = 0;
    u16 portSwHOQLimitDiscards = 0; ///< packets that waited too long at the head of the queue

    friend bool operator==(const PortXmitDiscardDetails&, const PortXmitDiscardDetails&) = default;
};

} // namespace pm

template <> struct described<pm::PortRcvErrorDetails> : std::true_type {
    using T = pm::PortRcvErrorDetails;
    // clang-format off
    static constexpr auto layout = describe<16>("PMPortRcvErrorDetails", "16.1.4.1",
        reserved<&T::reserved_0,             at{0},   8>{},
        field<&T::portSelect,                at{1},   8>{"portSelect"},
        field<&T::counterSelect,             at{2},  16>{"counterSelect", show::hex},
        field<&T::portLocalPhysicalErrors,   at{4},  16>{"portLocalPhysicalErrors"},
        field<&T::portMalformedPacketErrors, at{6},  16>{"portMalformedPacketErrors"},
        field<&T::portBufferOverrunErrors,   at{8},  16>{"portBufferOverrunErrors"},
        field<&T::portDLIDMappingErrors,     at{10}, 16>{"portDLIDMappingErrors"},
        field<&T::portVLMappingErrors,       at{12}, 16>{"portVLMappingErrors"},
        field<&T::portLoopingErrors,         at{14}, 16>{"portLoopingErrors"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortRcvErrorDetails>
    : attribute_traits<0x0015, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortXmitDiscardDetails> : std::true_type {
    using T = pm::PortXmitDiscardDetails;
    // clang-format off
    static constexpr auto layout = describe<12>("PMPortXmitDiscardDetails", "16.1.4.2",
        reserved<&T::reserved_0,               at{0},   8>{},
        field<&T::portSelect,                  at{1},   8>{"portSelect"},
        field<&T::counterSelect,               at{2},  16>{"counterSelect", show::hex},
        field<&T::portInactiveDiscards,        at{4},  16>{"portInactiveDiscards"},
        field<&T::portNeighborMTUDiscards,     at{6},  16>{"portNeighborMTUDiscards"},
        field<&T::portSwLifetimeLimitDiscards, at{8},  16>{"portSwLifetimeLimitDiscards"},
        field<&T::portSwHOQLimitDiscards,      at{10}, 16>{"portSwHOQLimitDiscards"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortXmitDiscardDetails>
    : attribute_traits<0x0016, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

// ---- Packets --------------------------------------------------------------------------------------------------------

namespace pm {

/// Packets and data that a port received with one OpCode.
struct PortOpRcvCounters {
    u8 opCode = 0;         ///< the OpCode that is counted
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u32 portOpRcvPkts = 0;
    u32 portOpRcvData = 0;

    friend bool operator==(const PortOpRcvCounters&, const PortOpRcvCounters&) = default;
};

/// Flow control packets that a port sent and received.
struct PortFlowCtlCounters {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u32 portXmitFlowPkts = 0;
    u32 portRcvFlowPkts = 0;

    friend bool operator==(const PortFlowCtlCounters&, const PortFlowCtlCounters&) = default;
};

} // namespace pm

template <> struct described<pm::PortOpRcvCounters> : std::true_type {
    using T = pm::PortOpRcvCounters;
    // clang-format off
    static constexpr auto layout = describe<12>("PMPortOpRcvCounters", "16.1.4.3",
        field<&T::opCode,        at{0},  8>{"opCode"},
        field<&T::portSelect,    at{1},  8>{"portSelect"},
        field<&T::counterSelect, at{2}, 16>{"counterSelect", show::hex},
        field<&T::portOpRcvPkts, at{4}, 32>{"portOpRcvPkts"},
        field<&T::portOpRcvData, at{8}, 32>{"portOpRcvData"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortOpRcvCounters>
    : attribute_traits<0x0017, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortFlowCtlCounters> : std::true_type {
    using T = pm::PortFlowCtlCounters;
    // clang-format off
    static constexpr auto layout = describe<12>("PMPortFlowCtlCounters", "16.1.4.4",
        reserved<&T::reserved_0,    at{0},  8>{},
        field<&T::portSelect,       at{1},  8>{"portSelect"},
        field<&T::counterSelect,    at{2}, 16>{"counterSelect", show::hex},
        field<&T::portXmitFlowPkts, at{4}, 32>{"portXmitFlowPkts"},
        field<&T::portRcvFlowPkts,  at{8}, 32>{"portRcvFlowPkts"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortFlowCtlCounters>
    : attribute_traits<0x0018, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
