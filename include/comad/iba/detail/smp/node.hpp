// SPDX-License-Identifier: MIT
// node.hpp - attributes of a node, including its subnet manager (IBA 14.2.5).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/iba/notice.hpp>

#include <array>
#include <iosfwd> // std::string, declared

namespace comad::iba {

// ---- NodeDescription ------------------------------------------------------------------------------------------------

namespace smp {

/// The name that an administrator gave the node, in UTF-8; NUL-terminated only if shorter than 64 bytes.
struct NodeDescription {
    std::array<u8, 64> nodeString{};

    friend bool operator==(const NodeDescription&, const NodeDescription&) = default;
};

/// Returns the bytes before the first NUL, or all 64 if there is none. They come from the network, so call escaped()
/// (text.hpp) before you print them.
std::string text(const NodeDescription& d);

} // namespace smp

template <> struct described<smp::NodeDescription> : std::true_type {
    using T = smp::NodeDescription;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPNodeDescription", "14.2.5.2",
        field<&T::nodeString, at{0}, 512>{"nodeString", show::text});
    // clang-format on
};
template <>
struct attribute_of<smp::NodeDescription> : attribute_traits<0x0010, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

// ---- NodeInfo -------------------------------------------------------------------------------------------------------

namespace smp {

/// The properties of a node. portGUID and localPortNum describe the port that received the request.
struct NodeInfo {
    u8 baseVersion = 0;
    u8 classVersion = 0;
    NodeType nodeType{};
    u8 numPorts = 0; ///< number of physical ports, without port 0 of a switch
    guid systemImageGUID{};
    guid nodeGUID{};
    guid portGUID{};
    u16 partitionCap = 0; ///< number of entries in the P_Key table
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
struct attribute_of<smp::NodeInfo> : attribute_traits<0x0011, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

// ---- SwitchInfo -----------------------------------------------------------------------------------------------------

namespace smp {

/// The capabilities of a switch, and how it forwards.
struct SwitchInfo {
    u16 linearFDBCap = 0;    ///< number of entries
    u16 randomFDBCap = 0;    ///< number of entries
    u16 multicastFDBCap = 0; ///< number of entries
    u16 linearFDBTop = 0;    ///< highest LID of the linear forwarding table
    u8 defaultPort = 0;
    u8 defaultMulticastPrimaryPort = 0;
    u8 defaultMulticastNotPrimaryPort = 0;
    u8 lifeTimeValue = 0;                     ///< 5 bits: lifetime of packets, 4.096 us * 2^n; above 19: unlimited
    bool portStateChange = false;             ///< a port changed its state since the bit was last cleared by writing 1
    u8 optimizedSLtoVLMappingProgramming = 0; ///< 2 bits
    u16 LIDsPerPort = 0;
    u16 partitionEnforcementCap = 0; ///< number of entries in the P_Key table of a port
    bool inboundEnforcementCap = false;
    bool outboundEnforcementCap = false;
    bool filterRawInboundCap = false;
    bool filterRawOutboundCap = false;
    bool enhancedPort0 = false; ///< port 0 carries data and has its own LMC
    u8 reserved_133 = 0;
    u8 reserved_136 = 0;
    u16 multicastFDBTop = 0; ///< highest multicast LID, if PortInfo.capabilityMask has the bit for this field

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
    : attribute_traits<0x0012, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- SMInfo ---------------------------------------------------------------------------------------------------------

namespace smp {

/// The subnet manager at a port. A Set with an attribute modifier of 1 to 5 negotiates which SM is the master.
struct SMInfo {
    guid GUID{};            ///< GUID of the port
    u64 SMKey = 0;          ///< zero unless the SM trusts the requester
    u32 actCount = 0;       ///< increases while the SM runs
    u8 priority = 0;        ///< 4 bits: the SM with the highest priority becomes master
    iba::SMState SMState{}; ///< 4 bits
    u32 reserved_168 = 0;

    friend bool operator==(const SMInfo&, const SMInfo&) = default;
};

} // namespace smp

template <> struct described<smp::SMInfo> : std::true_type {
    using T = smp::SMInfo;
    // clang-format off
    static constexpr auto layout = describe<24>("SMPSMInfo", "14.2.5.13",
        field<&T::GUID,            at{0},     64>{"GUID"},
        field<&T::SMKey,           at{8},     64>{"SMKey", show::hex},
        field<&T::actCount,        at{16},    32>{"actCount"},
        field<&T::priority,        at{20, 0},  4>{"priority"},
        field<&T::SMState,         at{20, 4},  4>{"SMState"},
        reserved<&T::reserved_168, at{21},    24>{});
    // clang-format on
};
template <>
struct attribute_of<smp::SMInfo> : attribute_traits<0x0020, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {
};

// ---- Notice ---------------------------------------------------------------------------------------------------------

namespace smp {

/// A notice as an SMP contains it; notice_of() converts it to the structure of the other classes.
struct NoticeTrap {
    bool isGeneric = false;  ///< false: nodeType is a vendor ID and trapNumber a device ID
    NoticeType noticeType{}; ///< 7 bits
    ProducerType nodeType{}; ///< 24 bits: type of the reporting node
    TrapNumber trapNumber{};
    lid issuerLID{};           ///< LID of the reporting port
    bool noticeToggle = false; ///< alternates with every notice that is read
    u16 noticeCount = 0;       ///< 15 bits: notices in the queue
    u16 dataDetails = 0;       ///< the first two bytes of the details
    std::array<u16, 26> dataDetails2{};

    friend bool operator==(const NoticeTrap&, const NoticeTrap&) = default;
};

} // namespace smp

template <> struct described<smp::NoticeTrap> : std::true_type {
    using T = smp::NoticeTrap;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPNoticeTrap", "13.4.8.2",
        field<&T::isGeneric,    at{0, 0},   1>{"isGeneric"},
        field<&T::noticeType,   at{0, 1},   7>{"noticeType", show::name},
        field<&T::nodeType,     at{1},     24>{"nodeType"},
        field<&T::trapNumber,   at{4},     16>{"trapNumber"},
        field<&T::issuerLID,    at{6},     16>{"issuerLID"},
        field<&T::noticeToggle, at{8, 0},   1>{"noticeToggle"},
        field<&T::noticeCount,  at{8, 1},  15>{"noticeCount"},
        field<&T::dataDetails,  at{10},    16>{"dataDetails"},
        field<&T::dataDetails2, at{12},   416>{"dataDetails2"});
    // clang-format on
};
template <>
struct attribute_of<smp::NoticeTrap>
    : attribute_traits<0x0002, in_class<MgmtClass::SubnLID, 1, Method::Trap, Method::TrapRepress>> {};

namespace smp {

/// Returns the notice in the form that all other classes use; its issuerGID is zero.
constexpr Notice notice_of(const NoticeTrap& trap) noexcept {
    std::array<u8, wire_size<Notice>> bytes{};
    encode(trap, bytes.data());
    return decode<Notice>(bytes);
}

} // namespace smp

// ---- VendorDiag -----------------------------------------------------------------------------------------------------

namespace smp {

/// Diagnostic data of the vendor. The attribute modifier is the index of the part.
struct VendorDiag {
    u16 nextIndex = 0; ///< index of the next part; 0: this is the last one
    std::array<u8, 62> diagData{};

    friend bool operator==(const VendorDiag&, const VendorDiag&) = default;
};

} // namespace smp

template <> struct described<smp::VendorDiag> : std::true_type {
    using T = smp::VendorDiag;
    // clang-format off
    // diagData as in Wireshark; in other descriptions, its first two bytes are reserved.
    static constexpr auto layout = describe<64>("SMPVendorDiag", "14.2.5.14",
        field<&T::nextIndex, at{0},  16>{"nextIndex"},
        field<&T::diagData,  at{2}, 496>{"diagData", show::bytes});
    // clang-format on
};
template <>
struct attribute_of<smp::VendorDiag> : attribute_traits<0x0030, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

} // namespace comad::iba
