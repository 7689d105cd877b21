// SPDX-License-Identifier: MIT
// cm.hpp - communication management: the MAD format and all messages (IBA chapter 12).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Format and path ------------------------------------------------------------------------------------------------

namespace cm {

/// A communication management MAD.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::CommMgt, .classVersion = 2};
    std::array<u8, 232> data{}; ///< the message

    friend bool operator==(const Format&, const Format&) = default;
};

/// A path of a connection.
struct Path {
    lid SLID{};
    lid DLID{};
    gid SGID;
    gid DGID;
    u32 flowLabel = 0; ///< 20 bits
    u8 reserved_308 = 0;
    u8 reserved_312 = 0;
    u8 PD = 0; ///< 6 bits: packet delay, for paths that are slower than the local link
    u8 TClass = 0;
    u8 hopLimit = 0;
    u8 SL = 0;                ///< 4 bits
    bool subnetLocal = false; ///< both ends are in the same subnet
    u8 reserved_341 = 0;
    u8 localACKTimeout = 0; ///< 5 bits: 4.096 us * 2^n
    u8 reserved_349 = 0;

    friend bool operator==(const Path&, const Path&) = default;
};

} // namespace cm

template <> struct described<cm::Format> : std::true_type {
    using T = cm::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("CMFormat", "16.7.1",
        inlined<&T::header, at{0}>{},
        field<&T::data,     at{24}, 1856>{"data", show::data});
    // clang-format on
};

template <> struct described<cm::Path> : std::true_type {
    using T = cm::Path;
    // clang-format off
    static constexpr auto layout = describe<44>("CMPath", "12.6",
        field<&T::SLID,            at{0},      16>{"SLID"},
        field<&T::DLID,            at{2},      16>{"DLID"},
        field<&T::SGID,            at{4},     128>{"SGID"},
        field<&T::DGID,            at{20},    128>{"DGID"},
        field<&T::flowLabel,       at{36, 0},  20>{"flowLabel"},
        reserved<&T::reserved_308, at{38, 4},   4>{},
        reserved<&T::reserved_312, at{39, 0},   2>{},
        field<&T::PD,              at{39, 2},   6>{"PD"},
        field<&T::TClass,          at{40},      8>{"TClass", show::hex},
        field<&T::hopLimit,        at{41},      8>{"hopLimit"},
        field<&T::SL,              at{42, 0},   4>{"SL"},
        field<&T::subnetLocal,     at{42, 4},   1>{"subnetLocal"},
        reserved<&T::reserved_341, at{42, 5},   3>{},
        field<&T::localACKTimeout, at{43, 0},   5>{"localACKTimeout"},
        reserved<&T::reserved_349, at{43, 5},   3>{});
    // clang-format on
};

// ---- Connection setup -----------------------------------------------------------------------------------------------

namespace cm {

/// REQ: requests a connection.
struct REQ {
    u32 LCID = 0; ///< local communication ID, of the sender
    u32 reserved_32 = 0;
    u64 serviceID = 0;
    guid LGUID{}; ///< GUID of the CA
    u32 reserved_192 = 0;
    u32 localQKey = 0;
    u32 localQPN = 0; ///< 24 bits
    u8 responderResources = 0;
    u32 localEECN = 0; ///< 24 bits, end-to-end context for reliable datagrams
    u8 initiatorDepth = 0;
    u32 remoteEECN = 0;           ///< 24 bits
    u8 remoteResponseTimeout = 0; ///< 5 bits: 4.096 us * 2^n, time limit for the peer's reply to this message
    u8 transportService = 0;      ///< 2 bits: 0 RC, 1 UC, 2 RD, 3 see extendedTransportType
    bool flowControl = false;     ///< end-to-end flow control
    u32 startingPSN = 0;          ///< 24 bits
    u8 localResponseTimeout = 0;  ///< 5 bits: 4.096 us * 2^n, time limit for the sender's own replies
    u8 retryCount = 0;            ///< 3 bits
    u16 PKey = 0;
    MTU pathPacketMTU{};          ///< 4 bits
    bool RDCExists = false;       ///< for reliable datagrams: the channel exists
    u8 RNRRetryCount = 0;         ///< 3 bits
    u8 maxCMRetries = 0;          ///< 4 bits
    bool SRQ = false;             ///< the QP has a shared receive queue
    u8 extendedTransportType = 0; ///< 3 bits: 1 XRC
    Path primaryPath;
    Path alternatePath;               ///< zero: no alternate path
    std::array<u8, 92> privateData{}; ///< data of the two applications

    friend bool operator==(const REQ&, const REQ&) = default;
};

/// MRA: announces that a reply takes longer.
struct MRA {
    u32 LCID = 0;        ///< local communication ID, of the sender
    u32 RCID = 0;        ///< remote communication ID, of the receiver
    u8 messageMRAed = 0; ///< 2 bits: 0 REQ, 1 REP, 2 LAP
    u8 reserved_66 = 0;
    u8 serviceTimeout = 0; ///< 5 bits: 4.096 us * 2^n until the reply
    u8 reserved_77 = 0;
    std::array<u8, 222> privateData{}; ///< data of the two applications

    friend bool operator==(const MRA&, const MRA&) = default;
};

/// REJ: rejects a request or a connection.
struct REJ {
    u32 LCID = 0;           ///< local communication ID, of the sender
    u32 RCID = 0;           ///< remote communication ID, of the receiver
    u8 messageRejected = 0; ///< 2 bits: 0 REQ, 1 REP, 2 neither
    u8 reserved_66 = 0;
    u8 rejectInfoLength = 0; ///< 7 bits: number of valid bytes in ARI
    u8 reserved_79 = 0;
    u16 reason = 0;                    ///< a rejection code (IBA 12.6.7.2)
    std::array<u8, 72> ARI{};          ///< additional reject information
    std::array<u8, 148> privateData{}; ///< data of the two applications

    friend bool operator==(const REJ&, const REJ&) = default;
};

/// REP: accepts a connection.
struct REP {
    u32 LCID = 0; ///< local communication ID, of the sender
    u32 RCID = 0; ///< remote communication ID, of the receiver
    u32 localQKey = 0;
    u32 localQPN = 0; ///< 24 bits
    u8 reserved_120 = 0;
    u32 localEEContext = 0; ///< 24 bits
    u8 reserved_152 = 0;
    u32 startingPSN = 0; ///< 24 bits
    u8 reserved_184 = 0;
    u8 responderResources = 0;
    u8 initiatorDepth = 0;
    u8 targetACKDelay = 0;    ///< 5 bits: 4.096 us * 2^n
    u8 failoverAccepted = 0;  ///< 2 bits: 0 accepted, 1 not supported, 2 rejected
    bool flowControl = false; ///< end-to-end flow control
    u8 RNRRetryCount = 0;     ///< 3 bits
    bool SRQ = false;         ///< the QP has a shared receive queue
    u8 reserved_220 = 0;
    guid LGUID{};                      ///< GUID of the CA
    std::array<u8, 196> privateData{}; ///< data of the two applications

    friend bool operator==(const REP&, const REP&) = default;
};

/// RTU: the connection is ready to use.
struct RTU {
    u32 LCID = 0;                      ///< local communication ID, of the sender
    u32 RCID = 0;                      ///< remote communication ID, of the receiver
    std::array<u8, 224> privateData{}; ///< data of the two applications

    friend bool operator==(const RTU&, const RTU&) = default;
};

} // namespace cm

template <> struct described<cm::REQ> : std::true_type {
    using T = cm::REQ;
    // clang-format off
    // The layout of reserved_192, SRQ and extendedTransportType follows Linux and Wireshark.
    static constexpr auto layout = describe<232>("CMREQ", "12.6.5",
        field<&T::LCID,                  at{0},      32>{"LCID"},
        reserved<&T::reserved_32,        at{4},      32>{},
        field<&T::serviceID,             at{8},      64>{"serviceID", show::hex},
        field<&T::LGUID,                 at{16},     64>{"LGUID"},
        reserved<&T::reserved_192,       at{24},     32>{},
        field<&T::localQKey,             at{28},     32>{"localQKey", show::hex},
        field<&T::localQPN,              at{32},     24>{"localQPN"},
        field<&T::responderResources,    at{35},      8>{"responderResources"},
        field<&T::localEECN,             at{36},     24>{"localEECN"},
        field<&T::initiatorDepth,        at{39},      8>{"initiatorDepth"},
        field<&T::remoteEECN,            at{40},     24>{"remoteEECN"},
        field<&T::remoteResponseTimeout, at{43, 0},   5>{"remoteResponseTimeout"},
        field<&T::transportService,      at{43, 5},   2>{"transportService"},
        field<&T::flowControl,           at{43, 7},   1>{"flowControl"},
        field<&T::startingPSN,           at{44},     24>{"startingPSN"},
        field<&T::localResponseTimeout,  at{47, 0},   5>{"localResponseTimeout"},
        field<&T::retryCount,            at{47, 5},   3>{"retryCount"},
        field<&T::PKey,                  at{48},     16>{"PKey", show::hex},
        field<&T::pathPacketMTU,         at{50, 0},   4>{"pathPacketMTU", show::name},
        field<&T::RDCExists,             at{50, 4},   1>{"RDCExists"},
        field<&T::RNRRetryCount,         at{50, 5},   3>{"RNRRetryCount"},
        field<&T::maxCMRetries,          at{51, 0},   4>{"maxCMRetries"},
        field<&T::SRQ,                   at{51, 4},   1>{"SRQ"},
        field<&T::extendedTransportType, at{51, 5},   3>{"extendedTransportType"},
        field<&T::primaryPath,           at{52},    352>{"primaryPath"},
        field<&T::alternatePath,         at{96},    352>{"alternatePath"},
        field<&T::privateData,           at{140},   736>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::REQ> : attribute_traits<0x0010, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::MRA> : std::true_type {
    using T = cm::MRA;
    // clang-format off
    // The layout of privateData follows Linux. In other descriptions, its first two bytes are reserved.
    static constexpr auto layout = describe<232>("CMMRA", "12.6.6",
        field<&T::LCID,           at{0},      32>{"LCID"},
        field<&T::RCID,           at{4},      32>{"RCID"},
        field<&T::messageMRAed,   at{8, 0},    2>{"messageMRAed"},
        reserved<&T::reserved_66, at{8, 2},    6>{},
        field<&T::serviceTimeout, at{9, 0},    5>{"serviceTimeout"},
        reserved<&T::reserved_77, at{9, 5},    3>{},
        field<&T::privateData,    at{10},   1776>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::MRA> : attribute_traits<0x0011, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::REJ> : std::true_type {
    using T = cm::REJ;
    // clang-format off
    static constexpr auto layout = describe<232>("CMREJ", "12.6.7",
        field<&T::LCID,             at{0},      32>{"LCID"},
        field<&T::RCID,             at{4},      32>{"RCID"},
        field<&T::messageRejected,  at{8, 0},    2>{"messageRejected"},
        reserved<&T::reserved_66,   at{8, 2},    6>{},
        field<&T::rejectInfoLength, at{9, 0},    7>{"rejectInfoLength"},
        reserved<&T::reserved_79,   at{9, 7},    1>{},
        field<&T::reason,           at{10},     16>{"reason"},
        field<&T::ARI,              at{12},    576>{"ARI", show::bytes},
        field<&T::privateData,      at{84},   1184>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::REJ> : attribute_traits<0x0012, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::REP> : std::true_type {
    using T = cm::REP;
    // clang-format off
    // The layout of SRQ follows Linux and Wireshark.
    static constexpr auto layout = describe<232>("CMREP", "12.6.8",
        field<&T::LCID,               at{0},       32>{"LCID"},
        field<&T::RCID,               at{4},       32>{"RCID"},
        field<&T::localQKey,          at{8},       32>{"localQKey", show::hex},
        field<&T::localQPN,           at{12},      24>{"localQPN"},
        reserved<&T::reserved_120,    at{15},       8>{},
        field<&T::localEEContext,     at{16},      24>{"localEEContext"},
        reserved<&T::reserved_152,    at{19},       8>{},
        field<&T::startingPSN,        at{20},      24>{"startingPSN"},
        reserved<&T::reserved_184,    at{23},       8>{},
        field<&T::responderResources, at{24},       8>{"responderResources"},
        field<&T::initiatorDepth,     at{25},       8>{"initiatorDepth"},
        field<&T::targetACKDelay,     at{26, 0},    5>{"targetACKDelay"},
        field<&T::failoverAccepted,   at{26, 5},    2>{"failoverAccepted"},
        field<&T::flowControl,        at{26, 7},    1>{"flowControl"},
        field<&T::RNRRetryCount,      at{27, 0},    3>{"RNRRetryCount"},
        field<&T::SRQ,                at{27, 3},    1>{"SRQ"},
        reserved<&T::reserved_220,    at{27, 4},    4>{},
        field<&T::LGUID,              at{28},      64>{"LGUID"},
        field<&T::privateData,        at{36},    1568>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::REP> : attribute_traits<0x0013, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::RTU> : std::true_type {
    using T = cm::RTU;
    // clang-format off
    static constexpr auto layout = describe<232>("CMRTU", "12.6.9",
        field<&T::LCID,        at{0},   32>{"LCID"},
        field<&T::RCID,        at{4},   32>{"RCID"},
        field<&T::privateData, at{8}, 1792>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::RTU> : attribute_traits<0x0014, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

// ---- Connection end -------------------------------------------------------------------------------------------------

namespace cm {

/// DREQ: requests the end of a connection.
struct DREQ {
    u32 LCID = 0;      ///< local communication ID, of the sender
    u32 RCID = 0;      ///< remote communication ID, of the receiver
    u32 remoteQPN = 0; ///< 24 bits
    u8 reserved_88 = 0;
    std::array<u8, 220> privateData{}; ///< data of the two applications

    friend bool operator==(const DREQ&, const DREQ&) = default;
};

/// DREP: confirms the end of a connection.
struct DREP {
    u32 LCID = 0;                      ///< local communication ID, of the sender
    u32 RCID = 0;                      ///< remote communication ID, of the receiver
    std::array<u8, 224> privateData{}; ///< data of the two applications

    friend bool operator==(const DREP&, const DREP&) = default;
};

} // namespace cm

template <> struct described<cm::DREQ> : std::true_type {
    using T = cm::DREQ;
    // clang-format off
    static constexpr auto layout = describe<232>("CMDREQ", "12.6.10",
        field<&T::LCID,           at{0},    32>{"LCID"},
        field<&T::RCID,           at{4},    32>{"RCID"},
        field<&T::remoteQPN,      at{8},    24>{"remoteQPN"},
        reserved<&T::reserved_88, at{11},    8>{},
        field<&T::privateData,    at{12}, 1760>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::DREQ> : attribute_traits<0x0015, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::DREP> : std::true_type {
    using T = cm::DREP;
    // clang-format off
    static constexpr auto layout = describe<232>("CMDREP", "12.6.11",
        field<&T::LCID,        at{0},   32>{"LCID"},
        field<&T::RCID,        at{4},   32>{"RCID"},
        field<&T::privateData, at{8}, 1792>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::DREP> : attribute_traits<0x0016, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

// ---- Alternate paths ------------------------------------------------------------------------------------------------

namespace cm {

/// LAP: offers another alternate path.
struct LAP {
    u32 LCID = 0; ///< local communication ID, of the sender
    u32 RCID = 0; ///< remote communication ID, of the receiver
    u32 reserved_64 = 0;
    u32 RQPN = 0;      ///< 24 bits, remote QP
    u8 RCMTimeout = 0; ///< 5 bits: 4.096 us * 2^n
    u8 reserved_125 = 0;
    u32 reserved_128 = 0;
    lid altSLID{};
    lid altDLID{};
    gid altSGID;
    gid altDGID;
    u32 altFlowLabel = 0; ///< 20 bits
    u8 reserved_468 = 0;
    u8 altTClass = 0;
    u8 altHopLimit = 0;
    u8 reserved_488 = 0;
    u8 altIPD = 0;               ///< 6 bits: inter-packet delay
    u8 altSL = 0;                ///< 4 bits
    bool altSubnetLocal = false; ///< both ends are in the same subnet
    u8 reserved_501 = 0;
    u8 altLocalACKTimeout = 0; ///< 5 bits: 4.096 us * 2^n
    u8 reserved_509 = 0;
    std::array<u8, 168> privateData{}; ///< data of the two applications

    friend bool operator==(const LAP&, const LAP&) = default;
};

/// APR: the reply to LAP.
struct APR {
    u32 LCID = 0;                ///< local communication ID, of the sender
    u32 RCID = 0;                ///< remote communication ID, of the receiver
    u8 additionalInfoLength = 0; ///< number of valid bytes of additional information
    u8 APstatus = 0;             ///< 0: the path is loaded
    u16 reserved_80 = 0;
    std::array<u8, 72> additionalInfo{};
    std::array<u8, 148> privateData{}; ///< data of the two applications

    friend bool operator==(const APR&, const APR&) = default;
};

} // namespace cm

template <> struct described<cm::LAP> : std::true_type {
    using T = cm::LAP;
    // clang-format off
    // The layout of reserved_64 follows Linux.
    static constexpr auto layout = describe<232>("CMLAP", "12.8.1",
        field<&T::LCID,               at{0},       32>{"LCID"},
        field<&T::RCID,               at{4},       32>{"RCID"},
        reserved<&T::reserved_64,     at{8},       32>{},
        field<&T::RQPN,               at{12},      24>{"RQPN"},
        field<&T::RCMTimeout,         at{15, 0},    5>{"RCMTimeout"},
        reserved<&T::reserved_125,    at{15, 5},    3>{},
        reserved<&T::reserved_128,    at{16},      32>{},
        field<&T::altSLID,            at{20},      16>{"altSLID"},
        field<&T::altDLID,            at{22},      16>{"altDLID"},
        field<&T::altSGID,            at{24},     128>{"altSGID"},
        field<&T::altDGID,            at{40},     128>{"altDGID"},
        field<&T::altFlowLabel,       at{56, 0},   20>{"altFlowLabel"},
        reserved<&T::reserved_468,    at{58, 4},    4>{},
        field<&T::altTClass,          at{59},       8>{"altTClass", show::hex},
        field<&T::altHopLimit,        at{60},       8>{"altHopLimit"},
        reserved<&T::reserved_488,    at{61, 0},    2>{},
        field<&T::altIPD,             at{61, 2},    6>{"altIPD"},
        field<&T::altSL,              at{62, 0},    4>{"altSL"},
        field<&T::altSubnetLocal,     at{62, 4},    1>{"altSubnetLocal"},
        reserved<&T::reserved_501,    at{62, 5},    3>{},
        field<&T::altLocalACKTimeout, at{63, 0},    5>{"altLocalACKTimeout"},
        reserved<&T::reserved_509,    at{63, 5},    3>{},
        field<&T::privateData,        at{64},    1344>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::LAP> : attribute_traits<0x0019, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::APR> : std::true_type {
    using T = cm::APR;
    // clang-format off
    static constexpr auto layout = describe<232>("CMAPR", "12.8.2",
        field<&T::LCID,                 at{0},    32>{"LCID"},
        field<&T::RCID,                 at{4},    32>{"RCID"},
        field<&T::additionalInfoLength, at{8},     8>{"additionalInfoLength"},
        field<&T::APstatus,             at{9},     8>{"APstatus"},
        reserved<&T::reserved_80,       at{10},   16>{},
        field<&T::additionalInfo,       at{12},  576>{"additionalInfo", show::bytes},
        field<&T::privateData,          at{84}, 1184>{"privateData", show::bytes});
    // clang-format on
};
template <> struct attribute_of<cm::APR> : attribute_traits<0x001a, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

// ---- Service ID resolution ------------------------------------------------------------------------------------------

namespace cm {

/// SIDR_REQ: requests the QP of a datagram service.
struct SIDR_REQ {
    u32 requestID = 0;
    u16 PKey = 0;
    u16 reserved_48 = 0;
    u64 serviceID = 0;
    std::array<u8, 216> privateData{}; ///< data of the two applications

    friend bool operator==(const SIDR_REQ&, const SIDR_REQ&) = default;
};

/// SIDR_REP: the reply to SIDR_REQ, with the QP.
struct SIDR_REP {
    u32 requestID = 0;
    u8 status = 0; ///< 0: valid, 1: no such service, 2: rejected, 3: no QP, 4: redirected, 5: unsupported version
    u8 additionalInfoLength = 0; ///< number of valid bytes in classPortinfo
    u16 reserved_48 = 0;
    u32 QPN = 0; ///< 24 bits
    u8 reserved_88 = 0;
    u64 serviceID = 0;
    u32 QKey = 0;
    ClassPortInfo classPortinfo;       ///< target of a new request if status is 4 (redirected)
    std::array<u8, 136> privateData{}; ///< data of the two applications

    friend bool operator==(const SIDR_REP&, const SIDR_REP&) = default;
};

} // namespace cm

template <> struct described<cm::SIDR_REQ> : std::true_type {
    using T = cm::SIDR_REQ;
    // clang-format off
    // The layout of PKey follows Linux.
    static constexpr auto layout = describe<232>("CMSIDR_REQ", "12.11.1",
        field<&T::requestID,      at{0},    32>{"requestID"},
        field<&T::PKey,           at{4},    16>{"PKey", show::hex},
        reserved<&T::reserved_48, at{6},    16>{},
        field<&T::serviceID,      at{8},    64>{"serviceID", show::hex},
        field<&T::privateData,    at{16}, 1728>{"privateData", show::bytes});
    // clang-format on
};
template <>
struct attribute_of<cm::SIDR_REQ> : attribute_traits<0x0017, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

template <> struct described<cm::SIDR_REP> : std::true_type {
    using T = cm::SIDR_REP;
    // clang-format off
    // The layout follows Linux. Other descriptions follow the IBA before its errata.
    static constexpr auto layout = describe<232>("CMSIDR_REP", "12.11.2",
        field<&T::requestID,            at{0},    32>{"requestID"},
        field<&T::status,               at{4},     8>{"status"},
        field<&T::additionalInfoLength, at{5},     8>{"additionalInfoLength"},
        reserved<&T::reserved_48,       at{6},    16>{},
        field<&T::QPN,                  at{8},    24>{"QPN"},
        reserved<&T::reserved_88,       at{11},    8>{},
        field<&T::serviceID,            at{12},   64>{"serviceID", show::hex},
        field<&T::QKey,                 at{20},   32>{"QKey", show::hex},
        field<&T::classPortinfo,        at{24},  576>{"classPortinfo"},
        field<&T::privateData,          at{96}, 1088>{"privateData", show::bytes});
    // clang-format on
};
template <>
struct attribute_of<cm::SIDR_REP> : attribute_traits<0x0018, in_class<MgmtClass::CommMgt, 2, Method::Send>> {};

} // namespace comad::iba
