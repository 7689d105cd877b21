// SPDX-License-Identifier: MIT
// counters.hpp - the performance counters of a port (IBA 16.1.3.5, 16.1.4).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- PortCounters ---------------------------------------------------------------------------------------------------

namespace pm {

/// The counters that every port has. They stop at their largest value until a Set clears them.
struct PortCounters {
    u8 reserved_0 = 0;
    u8 portSelect = 0;     ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0; ///< for a Set: counters to write
    u16 symbolErrorCounter = 0;
    u8 linkErrorRecoveryCounter = 0; ///< recoveries that succeeded
    u8 linkDownedCounter = 0;        ///< recoveries that failed
    u16 portRcvErrors = 0;
    u16 portRcvRemotePhysicalErrors = 0;
    u16 portRcvSwitchRelayErrors = 0; ///< for a switch: packets that could not be forwarded
    u16 portXmitDiscards = 0;
    u8 portXmitConstraintErrors = 0;
    u8 portRcvConstraintErrors = 0;
    u8 counterSelect2 = 0;               ///< for a Set, 1: portXmitWait is written
    u8 localLinkIntegrityErrors = 0;     ///< 4 bits
    u8 excessiveBufferOverrunErrors = 0; ///< 4 bits
    u16 QP1Dropped = 0;                  ///< valid if PMCapability has IsQP1DroppedSupported
    u16 VL15Dropped = 0;
    u32 portXmitData = 0; ///< 4-byte words
    u32 portRcvData = 0;  ///< 4-byte words
    u32 portXmitPkts = 0;
    u32 portRcvPkts = 0;
    u32 portXmitWait = 0; ///< ticks during which there were packets to send, but none was sent

    friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

/// The counters of a port with 64 bits. They wrap. The counters from symbolErrorCounter on are valid only if
/// PMCapability2 has IsAdditionalPortCountersExtendedSupported.
struct PortCountersExt {
    u8 reserved_0 = 0;
    u8 portSelect = 0;      ///< port number; 255: all ports, if ClassPortInfo allows that
    u16 counterSelect = 0;  ///< for a Set: counters to write
    u32 counterSelect2 = 0; ///< for a Set: counters to write, from symbolErrorCounter on
    u64 portXmitData = 0;   ///< 4-byte words
    u64 portRcvData = 0;    ///< 4-byte words
    u64 portXmitPkts = 0;
    u64 portRcvPkts = 0;
    u64 portUnicastXmitPkts = 0;
    u64 portUnicastRcvPkts = 0;
    u64 portMulticastXmitPkts = 0;
    u64 portMulticastRcvPkts = 0;
    u64 symbolErrorCounter = 0;
    u64 linkErrorRecoveryCounter = 0;
    u64 linkDownedCounter = 0;
    u64 portRcvErrors = 0;
    u64 portRcvRemotePhysicalErrors = 0;
    u64 portRcvSwitchRelayErrors = 0;
    u64 portXmitDiscards = 0;
    u64 portXmitConstraintErrors = 0;
    u64 portRcvConstraintErrors = 0;
    u64 localLinkIntegrityErrors = 0;
    u64 excessiveBufferOverrunErrors = 0;
    u64 VL15Dropped = 0;
    u64 portXmitWait = 0; ///< ticks during which there were packets to send, but none was sent
    u64 QP1Dropped = 0;

    friend bool operator==(const PortCountersExt&, const PortCountersExt&) = default;
};

} // namespace pm

template <> struct described<pm::PortCounters> : std::true_type {
    using T = pm::PortCounters;
    // clang-format off
    // QP1Dropped as in OpenSM; libibmad 44 decodes it as VL15Dropped.
    static constexpr auto layout = describe<44>("PMPortCounters", "16.1.3.5",
        reserved<&T::reserved_0,                at{0},      8>{},
        field<&T::portSelect,                   at{1},      8>{"portSelect"},
        field<&T::counterSelect,                at{2},     16>{"counterSelect", show::hex},
        field<&T::symbolErrorCounter,           at{4},     16>{"symbolErrorCounter"},
        field<&T::linkErrorRecoveryCounter,     at{6},      8>{"linkErrorRecoveryCounter"},
        field<&T::linkDownedCounter,            at{7},      8>{"linkDownedCounter"},
        field<&T::portRcvErrors,                at{8},     16>{"portRcvErrors"},
        field<&T::portRcvRemotePhysicalErrors,  at{10},    16>{"portRcvRemotePhysicalErrors"},
        field<&T::portRcvSwitchRelayErrors,     at{12},    16>{"portRcvSwitchRelayErrors"},
        field<&T::portXmitDiscards,             at{14},    16>{"portXmitDiscards"},
        field<&T::portXmitConstraintErrors,     at{16},     8>{"portXmitConstraintErrors"},
        field<&T::portRcvConstraintErrors,      at{17},     8>{"portRcvConstraintErrors"},
        field<&T::counterSelect2,               at{18},     8>{"counterSelect2", show::hex},
        field<&T::localLinkIntegrityErrors,     at{19, 0},  4>{"localLinkIntegrityErrors"},
        field<&T::excessiveBufferOverrunErrors, at{19, 4},  4>{"excessiveBufferOverrunErrors"},
        field<&T::QP1Dropped,                   at{20},    16>{"QP1Dropped"},
        field<&T::VL15Dropped,                  at{22},    16>{"VL15Dropped"},
        field<&T::portXmitData,                 at{24},    32>{"portXmitData"},
        field<&T::portRcvData,                  at{28},    32>{"portRcvData"},
        field<&T::portXmitPkts,                 at{32},    32>{"portXmitPkts"},
        field<&T::portRcvPkts,                  at{36},    32>{"portRcvPkts"},
        field<&T::portXmitWait,                 at{40},    32>{"portXmitWait"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortCounters>
    : attribute_traits<0x0012, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortCountersExt> : std::true_type {
    using T = pm::PortCountersExt;
    // clang-format off
    // From counterSelect2 on, the layout follows OpenSM and libibmad; in older releases of the IBA, the attribute
    // ends at 72 bytes.
    static constexpr auto layout = describe<184>("PMPortCountersExt", "16.1.4.11",
        reserved<&T::reserved_0,                at{0},    8>{},
        field<&T::portSelect,                   at{1},    8>{"portSelect"},
        field<&T::counterSelect,                at{2},   16>{"counterSelect", show::hex},
        field<&T::counterSelect2,               at{4},   32>{"counterSelect2", show::hex},
        field<&T::portXmitData,                 at{8},   64>{"portXmitData"},
        field<&T::portRcvData,                  at{16},  64>{"portRcvData"},
        field<&T::portXmitPkts,                 at{24},  64>{"portXmitPkts"},
        field<&T::portRcvPkts,                  at{32},  64>{"portRcvPkts"},
        field<&T::portUnicastXmitPkts,          at{40},  64>{"portUnicastXmitPkts"},
        field<&T::portUnicastRcvPkts,           at{48},  64>{"portUnicastRcvPkts"},
        field<&T::portMulticastXmitPkts,        at{56},  64>{"portMulticastXmitPkts"},
        field<&T::portMulticastRcvPkts,         at{64},  64>{"portMulticastRcvPkts"},
        field<&T::symbolErrorCounter,           at{72},  64>{"symbolErrorCounter"},
        field<&T::linkErrorRecoveryCounter,     at{80},  64>{"linkErrorRecoveryCounter"},
        field<&T::linkDownedCounter,            at{88},  64>{"linkDownedCounter"},
        field<&T::portRcvErrors,                at{96},  64>{"portRcvErrors"},
        field<&T::portRcvRemotePhysicalErrors,  at{104}, 64>{"portRcvRemotePhysicalErrors"},
        field<&T::portRcvSwitchRelayErrors,     at{112}, 64>{"portRcvSwitchRelayErrors"},
        field<&T::portXmitDiscards,             at{120}, 64>{"portXmitDiscards"},
        field<&T::portXmitConstraintErrors,     at{128}, 64>{"portXmitConstraintErrors"},
        field<&T::portRcvConstraintErrors,      at{136}, 64>{"portRcvConstraintErrors"},
        field<&T::localLinkIntegrityErrors,     at{144}, 64>{"localLinkIntegrityErrors"},
        field<&T::excessiveBufferOverrunErrors, at{152}, 64>{"excessiveBufferOverrunErrors"},
        field<&T::VL15Dropped,                  at{160}, 64>{"VL15Dropped"},
        field<&T::portXmitWait,                 at{168}, 64>{"portXmitWait"},
        field<&T::QP1Dropped,                   at{176}, 64>{"QP1Dropped"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortCountersExt>
    : attribute_traits<0x001d, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

// ---- Errors by lane -------------------------------------------------------------------------------------------------

namespace pm {

/// Errors on a link of extended speed, by lane. If the forward error correction of the port is RS, the attribute
/// contains PortExtendedSpeedsCountersRSFEC instead (see PortInfoExtended.FECModeActive).
struct PortExtendedSpeedsCounters {
    u8 reserved_0 = 0;
    u8 portSelect = 0; ///< port number; 255: all ports, if ClassPortInfo allows that
    u64 reserved_16 = 0;
    u64 counterSelect = 0; ///< for a Set: counters to write
    u16 syncHeaderErrorCounter = 0;
    u16 unknownBlockCounter = 0;
    std::array<u16, 12> errorDetectionCounterLane{};
    std::array<u32, 12> FECCorrectableBlockCounterLane{};
    std::array<u32, 12> FECUncorrectableBlockCounterLane{};

    friend bool operator==(const PortExtendedSpeedsCounters&, const PortExtendedSpeedsCounters&) = default;
};

/// Errors on a link of extended speed with RS forward error correction: PMCapability has IsRSFECModeSupported, and
/// PortInfoExtended.FECModeActive is RS or RS2.
struct PortExtendedSpeedsCountersRSFEC {
    u8 reserved_0 = 0;
    u8 portSelect = 0; ///< port number; 255: all ports, if ClassPortInfo allows that
    u64 reserved_16 = 0;
    u64 counterSelect = 0; ///< for a Set: counters to write
    u16 syncHeaderErrorCounter = 0;
    u16 unknownBlockCounter = 0;
    std::array<u8, 24> reserved_160{};
    std::array<u32, 12> FECCorrectableSymbolCounterLane{};
    std::array<u8, 48> reserved_736{};
    u32 portFECCorrectableBlockCounter = 0;
    u32 portFECUncorrectableBlockCounter = 0;
    u32 portFECCorrectedSymbolCounter = 0;

    friend bool operator==(const PortExtendedSpeedsCountersRSFEC&, const PortExtendedSpeedsCountersRSFEC&) = default;
};

} // namespace pm

template <> struct described<pm::PortExtendedSpeedsCounters> : std::true_type {
    using T = pm::PortExtendedSpeedsCounters;
    // clang-format off
    // The layout follows libibmad and pm_PortExtendedSpeedsCounters of ibis.
    static constexpr auto layout = describe<140>("PMPortExtendedSpeedsCounters", "16.1.4",
        reserved<&T::reserved_0,                    at{0},    8>{},
        field<&T::portSelect,                       at{1},    8>{"portSelect"},
        reserved<&T::reserved_16,                   at{2},   48>{},
        field<&T::counterSelect,                    at{8},   64>{"counterSelect", show::hex},
        field<&T::syncHeaderErrorCounter,           at{16},  16>{"syncHeaderErrorCounter"},
        field<&T::unknownBlockCounter,              at{18},  16>{"unknownBlockCounter"},
        field<&T::errorDetectionCounterLane,        at{20}, 192>{"errorDetectionCounterLane"},
        field<&T::FECCorrectableBlockCounterLane,   at{44}, 384>{"FECCorrectableBlockCounterLane"},
        field<&T::FECUncorrectableBlockCounterLane, at{92}, 384>{"FECUncorrectableBlockCounterLane"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortExtendedSpeedsCounters>
    : attribute_traits<0x001f, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

template <> struct described<pm::PortExtendedSpeedsCountersRSFEC> : std::true_type {
    using T = pm::PortExtendedSpeedsCountersRSFEC;
    // clang-format off
    // The layouts of libibmad and ibis (packets_layouts.h) are equal.
    static constexpr auto layout = describe<152>("PMPortExtendedSpeedsCountersRSFEC", "16.1.4",
        reserved<&T::reserved_0,                    at{0},     8>{},
        field<&T::portSelect,                       at{1},     8>{"portSelect"},
        reserved<&T::reserved_16,                   at{2},    48>{},
        field<&T::counterSelect,                    at{8},    64>{"counterSelect", show::hex},
        field<&T::syncHeaderErrorCounter,           at{16},   16>{"syncHeaderErrorCounter"},
        field<&T::unknownBlockCounter,              at{18},   16>{"unknownBlockCounter"},
        reserved<&T::reserved_160,                  at{20},  192>{},
        field<&T::FECCorrectableSymbolCounterLane,  at{44},  384>{"FECCorrectableSymbolCounterLane"},
        reserved<&T::reserved_736,                  at{92},  384>{},
        field<&T::portFECCorrectableBlockCounter,   at{140},  32>{"portFECCorrectableBlockCounter"},
        field<&T::portFECUncorrectableBlockCounter, at{144},  32>{"portFECUncorrectableBlockCounter"},
        field<&T::portFECCorrectedSymbolCounter,    at{148},  32>{"portFECCorrectedSymbolCounter"});
    // clang-format on
};
template <>
struct attribute_of<pm::PortExtendedSpeedsCountersRSFEC>
    : attribute_traits<0x001f, in_class<MgmtClass::Performance, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
