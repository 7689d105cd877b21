// SPDX-License-Identifier: MIT
// smp.hpp - subnet management: the SMP formats and their attributes (IBA chapter 14). Knows how to send none of them.
#pragma once
#include <comad/iba/attribute.hpp>
#include <comad/iba/enums.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/wire.hpp>

#include <array>
#include <cstring>
#include <string>

namespace comad::iba {

// ---- Formats --------------------------------------------------------------------------------------------------------

namespace smp {

/// Attribute ids (IBA 14.2.5, table of attributes; the last is Mellanox').
namespace attribute_id {
inline constexpr u16 Notice = 0x0002;
inline constexpr u16 NodeDescription = 0x0010;
inline constexpr u16 NodeInfo = 0x0011;
inline constexpr u16 SwitchInfo = 0x0012;
inline constexpr u16 GUIDInfo = 0x0014;
inline constexpr u16 PortInfo = 0x0015;
inline constexpr u16 PKeyTable = 0x0016;
inline constexpr u16 SLToVLMappingTable = 0x0017;
inline constexpr u16 VLArbitrationTable = 0x0018;
inline constexpr u16 LinearForwardingTable = 0x0019;
inline constexpr u16 RandomForwardingTable = 0x001a;
inline constexpr u16 MulticastForwardingTable = 0x001b;
inline constexpr u16 SMInfo = 0x0020;
inline constexpr u16 VendorDiag = 0x0030;
inline constexpr u16 LedInfo = 0x0031;
inline constexpr u16 MlnxExtPortInfo = 0xff90;
} // namespace attribute_id

/// A LID-routed SMP.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::SubnLID};
    u64 MKey = 0;
    std::array<u8, 32> reserved_256{};
    std::array<u8, 64> data{}; ///< the attribute
    std::array<u8, 128> reserved_1024{};

    friend bool operator==(const Format&, const Format&) = default;
};

/// A directed-route SMP.
struct FormatDirected {
    MADHeaderDirected header;
    u64 MKey = 0;
    lid drSLID = permissive_lid; ///< permissive: no LID-routed part before the route
    lid drDLID = permissive_lid; ///< permissive: no LID-routed part after the route
    std::array<u8, 28> reserved_288{};
    std::array<u8, 64> data{};        ///< the attribute
    std::array<u8, 64> initialPath{}; ///< [0] is unused; [i] is the egress port of hop i
    std::array<u8, 64> returnPath{};  ///< [i] is the port by which the SMP came in on hop i

    friend bool operator==(const FormatDirected&, const FormatDirected&) = default;
};

} // namespace smp

template <> struct described<smp::Format> : std::true_type {
    using T = smp::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("SMPFormat", "14.2.1.1",
        inlined<&T::header,         at{0}>{},
        field<&T::MKey,             at{24},    64>{"MKey", show::hex},
        reserved<&T::reserved_256,  at{32},   256>{},
        field<&T::data,             at{64},   512>{"data", show::data},
        reserved<&T::reserved_1024, at{128}, 1024>{});
    // clang-format on
};

template <> struct described<smp::FormatDirected> : std::true_type {
    using T = smp::FormatDirected;
    // clang-format off
    static constexpr auto layout = describe<256>("SMPFormatDirected", "14.2.1.2",
        inlined<&T::header,        at{0}>{},
        field<&T::MKey,            at{24},   64>{"MKey", show::hex},
        field<&T::drSLID,          at{32},   16>{"drSLID"},
        field<&T::drDLID,          at{34},   16>{"drDLID"},
        reserved<&T::reserved_288, at{36},  224>{},
        field<&T::data,            at{64},  512>{"data", show::data},
        field<&T::initialPath,     at{128}, 512>{"initialPath"},
        field<&T::returnPath,      at{192}, 512>{"returnPath"});
    // clang-format on
};

// ---- NodeDescription ------------------------------------------------------------------------------------------------

namespace smp {

/// What an administrator calls the node, in UTF-8; NUL-terminated only if it is shorter than 64 bytes.
struct NodeDescription {
    std::array<u8, 64> nodeString{};

    friend bool operator==(const NodeDescription&, const NodeDescription&) = default;
};

/// The bytes before the first NUL, all 64 if there is none: as they came from the network, so escaped() (text.hpp)
/// before a terminal sees them.
inline std::string text(const NodeDescription& d) {
    const char* bytes = reinterpret_cast<const char*>(d.nodeString.data());
    return {bytes, strnlen(bytes, d.nodeString.size())};
}

} // namespace smp

template <> struct described<smp::NodeDescription> : std::true_type {
    using T = smp::NodeDescription;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPNodeDescription", "14.2.5.2",
        field<&T::nodeString, at{0}, 512>{"nodeString", show::text});
    // clang-format on
};
template <>
struct attribute_of<smp::NodeDescription>
    : attribute_traits<smp::attribute_id::NodeDescription, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

// ---- NodeInfo -------------------------------------------------------------------------------------------------------

namespace smp {

/// What a node is. portGUID and localPortNum are those of the port by which the request came in.
struct NodeInfo {
    u8 baseVersion = 0;
    u8 classVersion = 0;
    NodeType nodeType{};
    u8 numPorts = 0; ///< physical ports: a switch's port 0 is not counted
    guid systemImageGUID{};
    guid nodeGUID{};
    guid portGUID{};
    u16 partitionCap = 0; ///< entries of the P_Key table
    u16 deviceID = 0;
    u32 revision = 0;
    u8 localPortNum = 0;
    u32 vendorID = 0; ///< 24 bits, an OUI

    friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

} // namespace smp

template <> struct described<smp::NodeInfo> : std::true_type {
    using T = smp::NodeInfo;
    // clang-format off
    static constexpr auto layout = describe<40>("SMPNodeInfo", "14.2.5.3",
        field<&T::baseVersion,     at{0},   8>{"baseVersion"},
        field<&T::classVersion,    at{1},   8>{"classVersion"},
        field<&T::nodeType,        at{2},   8>{"nodeType", show::name},
        field<&T::numPorts,        at{3},   8>{"numPorts"},
        field<&T::systemImageGUID, at{4},  64>{"systemImageGUID"},
        field<&T::nodeGUID,        at{12}, 64>{"nodeGUID"},
        field<&T::portGUID,        at{20}, 64>{"portGUID"},
        field<&T::partitionCap,    at{28}, 16>{"partitionCap"},
        field<&T::deviceID,        at{30}, 16>{"deviceID", show::hex},
        field<&T::revision,        at{32}, 32>{"revision", show::hex},
        field<&T::localPortNum,    at{36},  8>{"localPortNum"},
        field<&T::vendorID,        at{37}, 24>{"vendorID", show::hex});
    // clang-format on
};
template <>
struct attribute_of<smp::NodeInfo>
    : attribute_traits<smp::attribute_id::NodeInfo, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

// ---- SwitchInfo -----------------------------------------------------------------------------------------------------

namespace smp {

/// What a switch can do and how it forwards.
struct SwitchInfo {
    u16 linearFDBCap = 0;    ///< entries
    u16 randomFDBCap = 0;    ///< entries
    u16 multicastFDBCap = 0; ///< entries
    u16 linearFDBTop = 0;    ///< highest LID of the linear forwarding table
    u8 defaultPort = 0;
    u8 defaultMulticastPrimaryPort = 0;
    u8 defaultMulticastNotPrimaryPort = 0;
    u8 lifeTimeValue = 0;                     ///< 5 bits: packets live 4.096 us * 2^n; above 19: forever
    bool portStateChange = false;             ///< a port changed state since this was last cleared by writing 1
    u8 optimizedSLtoVLMappingProgramming = 0; ///< 2 bits
    u16 LIDsPerPort = 0;
    u16 partitionEnforcementCap = 0; ///< entries of a port's P_Key table
    bool inboundEnforcementCap = false;
    bool outboundEnforcementCap = false;
    bool filterRawInboundCap = false;
    bool filterRawOutboundCap = false;
    bool enhancedPort0 = false; ///< port 0 carries data and has a LID mask of its own
    u8 reserved_133 = 0;
    u8 reserved_136 = 0;
    u16 multicastFDBTop = 0; ///< highest multicast LID, if PortInfo.capabilityMask says so

    friend bool operator==(const SwitchInfo&, const SwitchInfo&) = default;
};

} // namespace smp

template <> struct described<smp::SwitchInfo> : std::true_type {
    using T = smp::SwitchInfo;
    // clang-format off
    static constexpr auto layout = describe<20>("SMPSwitchInfo", "14.2.5.4",
        field<&T::linearFDBCap,                      at{0},     16>{"linearFDBCap"},
        field<&T::randomFDBCap,                      at{2},     16>{"randomFDBCap"},
        field<&T::multicastFDBCap,                   at{4},     16>{"multicastFDBCap"},
        field<&T::linearFDBTop,                      at{6},     16>{"linearFDBTop"},
        field<&T::defaultPort,                       at{8},      8>{"defaultPort"},
        field<&T::defaultMulticastPrimaryPort,       at{9},      8>{"defaultMulticastPrimaryPort"},
        field<&T::defaultMulticastNotPrimaryPort,    at{10},     8>{"defaultMulticastNotPrimaryPort"},
        field<&T::lifeTimeValue,                     at{11, 0},  5>{"lifeTimeValue"},
        field<&T::portStateChange,                   at{11, 5},  1>{"portStateChange"},
        field<&T::optimizedSLtoVLMappingProgramming, at{11, 6},  2>{"optimizedSLtoVLMappingProgramming"},
        field<&T::LIDsPerPort,                       at{12},    16>{"LIDsPerPort"},
        field<&T::partitionEnforcementCap,           at{14},    16>{"partitionEnforcementCap"},
        field<&T::inboundEnforcementCap,             at{16, 0},  1>{"inboundEnforcementCap"},
        field<&T::outboundEnforcementCap,            at{16, 1},  1>{"outboundEnforcementCap"},
        field<&T::filterRawInboundCap,               at{16, 2},  1>{"filterRawInboundCap"},
        field<&T::filterRawOutboundCap,              at{16, 3},  1>{"filterRawOutboundCap"},
        field<&T::enhancedPort0,                     at{16, 4},  1>{"enhancedPort0"},
        reserved<&T::reserved_133,                   at{16, 5},  3>{},
        reserved<&T::reserved_136,                   at{17},     8>{},
        field<&T::multicastFDBTop,                   at{18},    16>{"multicastFDBTop"});
    // clang-format on
};
template <>
struct attribute_of<smp::SwitchInfo>
    : attribute_traits<smp::attribute_id::SwitchInfo, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- PortInfo -------------------------------------------------------------------------------------------------------

namespace smp {

/// State and abilities of one port. The attribute modifier is the port number; 0 asks a CA or router for the port by
/// which the request came in, a switch for its port 0.
struct PortInfo {
    u64 MKey = 0;
    u64 GIDPrefix = 0; ///< upper half of the port's GIDs
    lid LID{};
    lid masterSMLID{};
    u32 capabilityMask = 0;
    u16 diagCode = 0;
    u16 MKeyLeasePeriod = 0;   ///< seconds; 0: never expires
    u8 localPortNum = 0;       ///< the port by which the request came in
    u8 linkWidthEnabled = 0;   ///< set of LinkWidth
    u8 linkWidthSupported = 0; ///< set of LinkWidth
    LinkWidth linkWidthActive{};
    u8 linkSpeedSupported = 0; ///< 4 bits, set of LinkSpeed
    PortState portState{};
    PortPhysicalState portPhysicalState{};
    PortPhysicalState linkDownDefaultState{}; ///< Sleep or Polling
    u8 MKeyProtectBits = 0;                   ///< 2 bits
    u8 reserved_274 = 0;
    u8 LMC = 0; ///< 3 bits: the port answers to 2^LMC LIDs
    LinkSpeed linkSpeedActive{};
    u8 linkSpeedEnabled = 0; ///< 4 bits, set of LinkSpeed
    u8 neighborMTU = 0;      ///< 4 bits: 128 * 2^n bytes
    u8 masterSMSL = 0;       ///< 4 bits
    u8 VLCap = 0;            ///< 4 bits: 1 VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14
    u8 initType = 0;         ///< 4 bits
    u8 VLHighLimit = 0;
    u8 VLArbitrationHighCap = 0;
    u8 VLArbitrationLowCap = 0;
    u8 initTypeReply = 0;  ///< 4 bits
    u8 MTUCap = 0;         ///< 4 bits: 128 * 2^n bytes
    u8 VLStallCount = 0;   ///< 3 bits
    u8 HOQLife = 0;        ///< 5 bits: 4.096 us * 2^n
    u8 operationalVLs = 0; ///< 4 bits, as VLCap
    bool partitionEnforcementInbound = false;
    bool partitionEnforcementOutbound = false;
    bool filterRawInbound = false;
    bool filterRawOutbound = false;
    u16 MKeyViolations = 0;
    u16 PKeyViolations = 0;
    u16 QKeyViolations = 0;
    u8 GUIDCap = 0; ///< entries of the GUIDInfo table
    bool clientReregister = false;
    u8 multicastPKeyTrapSuppressionEnabled = 0; ///< 2 bits
    u8 subnetTimeOut = 0;                       ///< 5 bits: 4.096 us * 2^n
    u8 reserved_416 = 0;
    u8 respTimeValue = 0;  ///< 5 bits: 4.096 us * 2^n
    u8 localPhyErrors = 0; ///< 4 bits
    u8 overrunErrors = 0;  ///< 4 bits
    u16 maxCreditHint = 0;
    u8 reserved_448 = 0;
    u32 linkRoundTripLatency = 0; ///< 24 bits
    u16 capabilityMask2 = 0;      ///< means something only if capabilityMask has 0x8000
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
        reserved<&T::reserved_448,                     at{56},     8>{},
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
    : attribute_traits<smp::attribute_id::PortInfo, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- Mellanox ExtendedPortInfo --------------------------------------------------------------------------------------

namespace smp {

/// Mellanox' additions to PortInfo (ib_mlnx_ext_port_info_t of OpenSM): tells FDR10, which PortInfo calls QDR.
/// The attribute modifier is the port number. Ask only devices that know it: others do not answer.
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
    : attribute_traits<smp::attribute_id::MlnxExtPortInfo, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {
};

} // namespace comad::iba
