// SPDX-License-Identifier: MIT
// port.hpp - attributes of a port (IBA 14.2.5, A15).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- GUIDInfo -------------------------------------------------------------------------------------------------------

namespace smp {

/// Eight GUIDs of a port; the attribute modifier is the number of the block. The first GUID of block 0 is the GUID of
/// the port.
struct GUIDInfo {
    std::array<guid, 8> GUIDBlock{};

    friend bool operator==(const GUIDInfo&, const GUIDInfo&) = default;
};

} // namespace smp

template <> struct described<smp::GUIDInfo> : std::true_type {
    using T = smp::GUIDInfo;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPGUIDInfo", "14.2.5.5",
        field<&T::GUIDBlock, at{0}, 512>{"GUIDBlock", mask::each});
    // clang-format on
};
template <>
struct attribute_of<smp::GUIDInfo>
    : attribute_traits<0x0014, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- PortInfo -------------------------------------------------------------------------------------------------------

namespace smp {

/// The state and the capabilities of one port. The attribute modifier is the port number. 0 selects the port that
/// received the request, for a CA or router, or port 0 of a switch.
struct PortInfo {
    u64 MKey = 0;
    u64 GIDPrefix = 0; ///< upper half of the GIDs of the port
    lid LID{};
    lid masterSMLID{};
    u32 capabilityMask = 0; ///< set of CapabilityMask
    u16 diagCode = 0;
    u16 MKeyLeasePeriod = 0;   ///< seconds; 0: never expires
    u8 localPortNum = 0;       ///< the port that received the request
    u8 linkWidthEnabled = 0;   ///< set of LinkWidth
    u8 linkWidthSupported = 0; ///< set of LinkWidth
    LinkWidth linkWidthActive{};
    u8 linkSpeedSupported = 0; ///< 4 bits, set of LinkSpeed
    PortState portState{};
    PortPhysicalState portPhysicalState{};
    PortPhysicalState linkDownDefaultState{}; ///< Sleep or Polling
    u8 MKeyProtectBits = 0;                   ///< 2 bits
    u8 reserved_274 = 0;
    u8 LMC = 0; ///< 3 bits: the port has 2^LMC LIDs
    LinkSpeed linkSpeedActive{};
    u8 linkSpeedEnabled = 0; ///< 4 bits, set of LinkSpeed
    MTU neighborMTU{};
    u8 masterSMSL = 0; ///< 4 bits
    iba::VLCap VLCap{};
    u8 initType = 0; ///< 4 bits
    u8 VLHighLimit = 0;
    u8 VLArbitrationHighCap = 0;
    u8 VLArbitrationLowCap = 0;
    u8 initTypeReply = 0; ///< 4 bits
    MTU MTUCap{};
    u8 VLStallCount = 0; ///< 3 bits
    u8 HOQLife = 0;      ///< 5 bits: 4.096 us * 2^n
    iba::VLCap operationalVLs{};
    bool partitionEnforcementInbound = false;
    bool partitionEnforcementOutbound = false;
    bool filterRawInbound = false;
    bool filterRawOutbound = false;
    u16 MKeyViolations = 0;
    u16 PKeyViolations = 0;
    u16 QKeyViolations = 0;
    u8 GUIDCap = 0; ///< number of entries in the GUIDInfo table
    bool clientReregister = false;
    u8 multicastPKeyTrapSuppressionEnabled = 0; ///< 2 bits
    u8 subnetTimeOut = 0;                       ///< 5 bits: 4.096 us * 2^n
    u8 reserved_416 = 0;
    u8 respTimeValue = 0;  ///< 5 bits: 4.096 us * 2^n
    u8 localPhyErrors = 0; ///< 4 bits
    u8 overrunErrors = 0;  ///< 4 bits
    u16 maxCreditHint = 0;
    u8 reserved_448 = 0;
    LinkSpeedExt2 linkSpeedExtActive2{};
    u8 linkSpeedExtSupported2 = 0; ///< 2 bits, set of LinkSpeedExt2
    u8 linkSpeedExtEnabled2 = 0;   ///< 3 bits, set of LinkSpeedExt2
    u32 linkRoundTripLatency = 0;  ///< 24 bits
    u16 capabilityMask2 = 0; ///< set of CapabilityMask2; valid only if capabilityMask has IsCapabilityMask2Supported
    LinkSpeedExt linkSpeedExtActive{};
    u8 linkSpeedExtSupported = 0; ///< 4 bits, set of LinkSpeedExt
    u8 reserved_504 = 0;
    u8 linkSpeedExtEnabled = 0; ///< 5 bits, set of LinkSpeedExt

    friend bool operator==(const PortInfo&, const PortInfo&) = default;
};

} // namespace smp

template <> struct described<smp::PortInfo> : std::true_type {
    using T = smp::PortInfo;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPPortInfo", "14.2.5.6",
        field<&T::MKey,                                at{0},     64>{"MKey", show::hex},
        field<&T::GIDPrefix,                           at{8},     64>{"GIDPrefix", show::prefix},
        field<&T::LID,                                 at{16},    16>{"LID"},
        field<&T::masterSMLID,                         at{18},    16>{"masterSMLID"},
        field<&T::capabilityMask,                      at{20},    32>{"capabilityMask", show::hex},
        field<&T::diagCode,                            at{24},    16>{"diagCode", show::hex},
        field<&T::MKeyLeasePeriod,                     at{26},    16>{"MKeyLeasePeriod"},
        field<&T::localPortNum,                        at{28},     8>{"localPortNum"},
        field<&T::linkWidthEnabled,                    at{29},     8>{"linkWidthEnabled"},
        field<&T::linkWidthSupported,                  at{30},     8>{"linkWidthSupported"},
        field<&T::linkWidthActive,                     at{31},     8>{"linkWidthActive", show::name},
        field<&T::linkSpeedSupported,                  at{32, 0},  4>{"linkSpeedSupported"},
        field<&T::portState,                           at{32, 4},  4>{"portState", show::name},
        field<&T::portPhysicalState,                   at{33, 0},  4>{"portPhysicalState", show::name},
        field<&T::linkDownDefaultState,                at{33, 4},  4>{"linkDownDefaultState", show::name},
        field<&T::MKeyProtectBits,                     at{34, 0},  2>{"MKeyProtectBits"},
        reserved<&T::reserved_274,                     at{34, 2},  3>{},
        field<&T::LMC,                                 at{34, 5},  3>{"LMC"},
        field<&T::linkSpeedActive,                     at{35, 0},  4>{"linkSpeedActive", show::name},
        field<&T::linkSpeedEnabled,                    at{35, 4},  4>{"linkSpeedEnabled"},
        field<&T::neighborMTU,                         at{36, 0},  4>{"neighborMTU"},
        field<&T::masterSMSL,                          at{36, 4},  4>{"masterSMSL"},
        field<&T::VLCap,                               at{37, 0},  4>{"VLCap"},
        field<&T::initType,                            at{37, 4},  4>{"initType", show::hex},
        field<&T::VLHighLimit,                         at{38},     8>{"VLHighLimit"},
        field<&T::VLArbitrationHighCap,                at{39},     8>{"VLArbitrationHighCap"},
        field<&T::VLArbitrationLowCap,                 at{40},     8>{"VLArbitrationLowCap"},
        field<&T::initTypeReply,                       at{41, 0},  4>{"initTypeReply", show::hex},
        field<&T::MTUCap,                              at{41, 4},  4>{"MTUCap"},
        field<&T::VLStallCount,                        at{42, 0},  3>{"VLStallCount"},
        field<&T::HOQLife,                             at{42, 3},  5>{"HOQLife"},
        field<&T::operationalVLs,                      at{43, 0},  4>{"operationalVLs"},
        field<&T::partitionEnforcementInbound,         at{43, 4},  1>{"partitionEnforcementInbound"},
        field<&T::partitionEnforcementOutbound,        at{43, 5},  1>{"partitionEnforcementOutbound"},
        field<&T::filterRawInbound,                    at{43, 6},  1>{"filterRawInbound"},
        field<&T::filterRawOutbound,                   at{43, 7},  1>{"filterRawOutbound"},
        field<&T::MKeyViolations,                      at{44},    16>{"MKeyViolations"},
        field<&T::PKeyViolations,                      at{46},    16>{"PKeyViolations"},
        field<&T::QKeyViolations,                      at{48},    16>{"QKeyViolations"},
        field<&T::GUIDCap,                             at{50},     8>{"GUIDCap"},
        field<&T::clientReregister,                    at{51, 0},  1>{"clientReregister"},
        field<&T::multicastPKeyTrapSuppressionEnabled, at{51, 1},  2>{"multicastPKeyTrapSuppressionEnabled"},
        field<&T::subnetTimeOut,                       at{51, 3},  5>{"subnetTimeOut"},
        reserved<&T::reserved_416,                     at{52, 0},  3>{},
        field<&T::respTimeValue,                       at{52, 3},  5>{"respTimeValue"},
        field<&T::localPhyErrors,                      at{53, 0},  4>{"localPhyErrors"},
        field<&T::overrunErrors,                       at{53, 4},  4>{"overrunErrors"},
        field<&T::maxCreditHint,                       at{54},    16>{"maxCreditHint"},
        reserved<&T::reserved_448,                     at{56, 0},  1>{},
        field<&T::linkSpeedExtActive2,                 at{56, 1},  2>{"linkSpeedExtActive2", {show::name,
                                                                      mask::with_previous}},
        field<&T::linkSpeedExtSupported2,              at{56, 3},  2>{"linkSpeedExtSupported2", mask::with_previous},
        field<&T::linkSpeedExtEnabled2,                at{56, 5},  3>{"linkSpeedExtEnabled2", mask::with_previous},
        field<&T::linkRoundTripLatency,                at{57},    24>{"linkRoundTripLatency"},
        field<&T::capabilityMask2,                     at{60},    16>{"capabilityMask2", show::hex},
        field<&T::linkSpeedExtActive,                  at{62, 0},  4>{"linkSpeedExtActive", show::name},
        field<&T::linkSpeedExtSupported,               at{62, 4},  4>{"linkSpeedExtSupported"},
        reserved<&T::reserved_504,                     at{63, 0},  3>{},
        field<&T::linkSpeedExtEnabled,                 at{63, 3},  5>{"linkSpeedExtEnabled"});
    // clang-format on
};
template <>
struct attribute_of<smp::PortInfo>
    : attribute_traits<0x0015, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- LedInfo --------------------------------------------------------------------------------------------------------

namespace smp {

/// The LED that identifies the port to a technician. The attribute modifier is the port number.
struct LedInfo {
    bool ledMask = false; ///< the LED is on
    u32 reserved_1 = 0;

    friend bool operator==(const LedInfo&, const LedInfo&) = default;
};

} // namespace smp

template <> struct described<smp::LedInfo> : std::true_type {
    using T = smp::LedInfo;
    // clang-format off
    static constexpr auto layout = describe<4>("SMPLedInfo", "14.2.5.15",
        field<&T::ledMask,       at{0, 0},  1>{"ledMask"},
        reserved<&T::reserved_1, at{0, 1}, 31>{});
    // clang-format on
};
template <>
struct attribute_of<smp::LedInfo>
    : attribute_traits<0x0031, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- PortInfoExtended -----------------------------------------------------------------------------------------------

namespace smp {

/// Forward error correction of a port. The attribute modifier is the port number. Query only ports whose
/// capabilityMask2 has the bit for this attribute.
struct PortInfoExtended {
    u32 capabilityMask = 0; ///< 1: FEC modes are supported
    FECMode FECModeActive{};
    u16 FDRFECModeSupported = 0; ///< bit n: FECMode n, as in the other members
    u16 FDRFECModeEnabled = 0;
    u16 EDRFECModeSupported = 0;
    u16 EDRFECModeEnabled = 0;
    u16 HDRFECModeSupported = 0;
    u16 HDRFECModeEnabled = 0;
    u16 NDRFECModeSupported = 0;
    u16 NDRFECModeEnabled = 0;
    std::array<u8, 42> reserved_176{};

    friend bool operator==(const PortInfoExtended&, const PortInfoExtended&) = default;
};

} // namespace smp

template <> struct described<smp::PortInfoExtended> : std::true_type {
    using T = smp::PortInfoExtended;
    // clang-format off
    // The layout is the layout of ib_port_info_ext_t of OpenSM and smp_PortInfoExtended of ibis. libibmad 44 reads HDR
    // and NDR from other bits.
    static constexpr auto layout = describe<64>("SMPPortInfoExtended", "14.2.5.19",
        field<&T::capabilityMask,      at{0},   32>{"capabilityMask", show::hex},
        field<&T::FECModeActive,       at{4},   16>{"FECModeActive", show::name},
        field<&T::FDRFECModeSupported, at{6},   16>{"FDRFECModeSupported", show::hex},
        field<&T::FDRFECModeEnabled,   at{8},   16>{"FDRFECModeEnabled", show::hex},
        field<&T::EDRFECModeSupported, at{10},  16>{"EDRFECModeSupported", show::hex},
        field<&T::EDRFECModeEnabled,   at{12},  16>{"EDRFECModeEnabled", show::hex},
        field<&T::HDRFECModeSupported, at{14},  16>{"HDRFECModeSupported", show::hex},
        field<&T::HDRFECModeEnabled,   at{16},  16>{"HDRFECModeEnabled", show::hex},
        field<&T::NDRFECModeSupported, at{18},  16>{"NDRFECModeSupported", show::hex},
        field<&T::NDRFECModeEnabled,   at{20},  16>{"NDRFECModeEnabled", show::hex},
        reserved<&T::reserved_176,     at{22}, 336>{});
    // clang-format on
};
template <>
struct attribute_of<smp::PortInfoExtended>
    : attribute_traits<0x0033, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- HierarchyInfo --------------------------------------------------------------------------------------------------

namespace smp {

/// The position of a port in its chassis, or the plane of a port in a planarized fabric: levels whose meaning the
/// template defines. Attribute modifier: port number, and the index of the hierarchy times 256.
struct HierarchyInfo {
    guid templateGUID{};      ///< vendor's GUID for the meaning of the levels
    u8 maxSupportedIndex = 0; ///< the highest index that the port supports
    u8 maxActiveIndex = 0;    ///< the highest index in use
    u8 activeLevels = 0;      ///< 4 bits: number of levels in use; 0: this hierarchy is unused
    u8 reserved_84 = 0;
    u8 reserved_88 = 0;
    std::array<u32, 13> levelData{}; ///< value of each level, level 0 first

    friend bool operator==(const HierarchyInfo&, const HierarchyInfo&) = default;
};

} // namespace smp

template <> struct described<smp::HierarchyInfo> : std::true_type {
    using T = smp::HierarchyInfo;
    // clang-format off
    // The layout is the layout of ib_hierarchy_info_t of NVIDIA's OpenSM and smp_HierarchyInfo of ibis.
    static constexpr auto layout = describe<64>("SMPHierarchyInfo", "A15",
        field<&T::templateGUID,      at{0},      64>{"templateGUID"},
        field<&T::maxSupportedIndex, at{8},       8>{"maxSupportedIndex"},
        field<&T::maxActiveIndex,    at{9},       8>{"maxActiveIndex"},
        field<&T::activeLevels,      at{10, 0},   4>{"activeLevels"},
        reserved<&T::reserved_84,    at{10, 4},   4>{},
        reserved<&T::reserved_88,    at{11},      8>{},
        field<&T::levelData,         at{12},    416>{"levelData", show::hex});
    // clang-format on
};
template <>
struct attribute_of<smp::HierarchyInfo>
    : attribute_traits<0x001e, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- Mellanox ExtendedPortInfo --------------------------------------------------------------------------------------

namespace smp {

/// Mellanox' additions to PortInfo (ib_mlnx_ext_port_info_t of OpenSM). They distinguish FDR10 from QDR, which
/// PortInfo does not. The attribute modifier is the port number. Query only devices that support the attribute: others
/// do not reply.
struct MlnxExtPortInfo {
    u32 reserved_0 = 0;
    u8 StateChangeEnable = 0;
    u32 reserved_32 = 0;
    u8 LinkSpeedSupported = 0; ///< 1: FDR10
    u32 reserved_64 = 0;
    u8 LinkSpeedEnabled = 0; ///< 1: FDR10
    u32 reserved_96 = 0;
    u8 LinkSpeedActive = 0; ///< 1: FDR10
    std::array<u8, 48> reserved_128{};

    friend bool operator==(const MlnxExtPortInfo&, const MlnxExtPortInfo&) = default;
};

} // namespace smp

template <> struct described<smp::MlnxExtPortInfo> : std::true_type {
    using T = smp::MlnxExtPortInfo;
    // clang-format off
    static constexpr auto layout = describe<64>("MlnxExtPortInfo", "vendor attribute 0xFF90",
        reserved<&T::reserved_0,      at{0},   24>{},
        field<&T::StateChangeEnable,  at{3},    8>{"StateChangeEnable"},
        reserved<&T::reserved_32,     at{4},   24>{},
        field<&T::LinkSpeedSupported, at{7},    8>{"LinkSpeedSupported"},
        reserved<&T::reserved_64,     at{8},   24>{},
        field<&T::LinkSpeedEnabled,   at{11},   8>{"LinkSpeedEnabled"},
        reserved<&T::reserved_96,     at{12},  24>{},
        field<&T::LinkSpeedActive,    at{15},   8>{"LinkSpeedActive"},
        reserved<&T::reserved_128,    at{16}, 384>{});
    // clang-format on
};
template <>
struct attribute_of<smp::MlnxExtPortInfo>
    : attribute_traits<0xff90, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
