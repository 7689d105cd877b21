// SPDX-License-Identifier: MIT
// notice.hpp - notices, the structures of their details, and subscriptions to notices (IBA 13.4.8.2, 13.4.8.3,
// 14.2.5.1).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>
#include <span>

namespace comad::iba {

// ---- Notice ---------------------------------------------------------------------------------------------------------

/// An event that a node or a class manager reports. Notices of subnet management have 64 bytes and no issuerGID
/// (smp::NoticeTrap). The trap number determines the structure of dataDetails:
/// decode<NoticeTrap144>(notice.dataDetails), for example. find_notice_details() (registry.hpp) returns its table.
struct Notice {
    bool isGeneric = false;  ///< false: nodeType is a vendor ID and trapNumber a device ID
    NoticeType noticeType{}; ///< 7 bits
    ProducerType nodeType{}; ///< 24 bits: type of the reporting node
    TrapNumber trapNumber{};
    lid issuerLID{};           ///< LID of the reporting port
    bool noticeToggle = false; ///< alternates with every notice that is read
    u16 noticeCount = 0;       ///< 15 bits: notices in the queue
    std::array<u8, 54> dataDetails{};
    gid issuerGID; ///< in reports of the SA: GID of the port that detected the event

    friend bool operator==(const Notice&, const Notice&) = default;
};

template <> struct described<Notice> : std::true_type {
    using T = Notice;
    // clang-format off
    static constexpr auto layout = describe<80>("MADNotice", "13.4.8.2",
        field<&T::isGeneric,    at{0, 0},   1>{"isGeneric"},
        field<&T::noticeType,   at{0, 1},   7>{"noticeType", show::name},
        field<&T::nodeType,     at{1},     24>{"nodeType"},
        field<&T::trapNumber,   at{4},     16>{"trapNumber"},
        field<&T::issuerLID,    at{6},     16>{"issuerLID"},
        field<&T::noticeToggle, at{8, 0},   1>{"noticeToggle"},
        field<&T::noticeCount,  at{8, 1},  15>{"noticeCount"},
        field<&T::dataDetails,  at{10},   432>{"dataDetails", show::details},
        field<&T::issuerGID,    at{64},   128>{"issuerGID"});
    // clang-format on
};
template <>
struct attribute_of<Notice>
    : attribute_traits<0x0002,
                       in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set, Method::Trap, Method::TrapRepress>,
                       in_class<MgmtClass::BM, 1, Method::Get, Method::Set, Method::Trap>,
                       in_class<MgmtClass::DevMgt, 1, Method::Get, Method::Set, Method::Trap>,
                       in_class<MgmtClass::SubnAdm, 2, Method::Report>> {};

// ---- Details --------------------------------------------------------------------------------------------------------

/// Traps 64 to 67: a port was added or removed, or a multicast group was created or deleted.
struct NoticeTrap64 {
    u16 reserved_0 = 0;
    u32 reserved_16 = 0;
    gid gidAddr; ///< GID of the port or group
    std::array<u8, 32> padding{};

    friend bool operator==(const NoticeTrap64&, const NoticeTrap64&) = default;
};

/// Trap 128: the state of a port of a switch changed.
struct NoticeTrap128 {
    lid lidAddr{}; ///< LID of the switch
    std::array<u8, 52> padding{};

    friend bool operator==(const NoticeTrap128&, const NoticeTrap128&) = default;
};

/// Traps 129 to 131: an error counter of a port exceeded its threshold.
struct NoticeTrap129 {
    u16 reserved_0 = 0;
    lid lidAddr{};  ///< LID of the node
    u8 portNum = 0; ///< port number
    u8 reserved_40 = 0;
    std::array<u8, 48> reserved_48{};

    friend bool operator==(const NoticeTrap129&, const NoticeTrap129&) = default;
};

/// Trap 144: a setting of a port changed.
struct NoticeTrap144 {
    u16 reserved_0 = 0;
    lid lidAddr{}; ///< LID of the port
    u8 reserved_32 = 0;
    u8 reserved_40 = 0;
    bool otherLocalChanges = false; ///< the four flags below are valid
    u32 capabilityMask = 0;         ///< the new PortInfo.capabilityMask
    u8 reserved_80 = 0;
    u8 reserved_88 = 0;
    bool smPriorityChange = false;
    bool linkSpeedEnabledChange = false;
    bool linkWidthEnabledChange = false;
    bool nodeDescriptionChange = false;
    u16 reserved_96 = 0;
    std::array<u8, 40> reserved_112{};

    friend bool operator==(const NoticeTrap144&, const NoticeTrap144&) = default;
};

/// Trap 145: the system image GUID of a node changed.
struct NoticeTrap145 {
    u16 reserved_0 = 0;
    lid lidAddr{}; ///< LID of the node
    u16 reserved_32 = 0;
    guid systemImageGUID{}; ///< new system image GUID
    std::array<u8, 40> reserved_112{};

    friend bool operator==(const NoticeTrap145&, const NoticeTrap145&) = default;
};

/// Trap 256: an SMP had a wrong M_Key. The return path is the return path of a directed-route SMP, nearest hop first.
struct NoticeTrap256 {
    u16 reserved_0 = 0;
    lid lidAddr{}; ///< SLID of the SMP
    lid drSLID{};  ///< drSLID of a directed-route SMP
    u8 method = 0; ///< method of the SMP; the next three members come from the SMP, too
    u8 reserved_56 = 0;
    u16 attributeID = 0;
    u32 attributeModifier = 0;
    u64 MKey = 0;
    u8 reserved_176 = 0;
    bool drNotice = false;        ///< the SMP was directed-route
    bool drPathTruncated = false; ///< the SMP had more hops than fit into the notice
    u8 drHopCount = 0;            ///< 6 bits: entries of the return path
    u8 drNoticeReturnPath0 = 0;
    u8 drNoticeReturnPath1 = 0;
    u8 drNoticeReturnPath2 = 0;
    u8 drNoticeReturnPath3 = 0;
    u8 drNoticeReturnPath4 = 0;
    u8 drNoticeReturnPath5 = 0;
    u8 drNoticeReturnPath6 = 0;
    u8 drNoticeReturnPath7 = 0;
    u8 drNoticeReturnPath8 = 0;
    u8 drNoticeReturnPath9 = 0;
    u8 drNoticeReturnPath10 = 0;
    u8 drNoticeReturnPath11 = 0;
    u8 drNoticeReturnPath12 = 0;
    u8 drNoticeReturnPath13 = 0;
    u8 drNoticeReturnPath14 = 0;
    u8 drNoticeReturnPath15 = 0;
    u8 drNoticeReturnPath16 = 0;
    u8 drNoticeReturnPath17 = 0;
    u8 drNoticeReturnPath18 = 0;
    u8 drNoticeReturnPath19 = 0;
    u8 drNoticeReturnPath20 = 0;
    u8 drNoticeReturnPath21 = 0;
    u8 drNoticeReturnPath22 = 0;
    u8 drNoticeReturnPath23 = 0;
    u8 drNoticeReturnPath24 = 0;
    u8 drNoticeReturnPath25 = 0;
    u8 drNoticeReturnPath26 = 0;
    u8 drNoticeReturnPath27 = 0;
    u8 drNoticeReturnPath28 = 0;
    u8 drNoticeReturnPath29 = 0;

    friend bool operator==(const NoticeTrap256&, const NoticeTrap256&) = default;
};

/// Traps 257 and 258: a packet had a wrong P_Key or Q_Key.
struct NoticeTrap257 {
    u16 reserved_0 = 0;
    lid lidAddr1{}; ///< SLID of the packet
    lid lidAddr2{}; ///< DLID of the packet
    u32 key = 0;    ///< P_Key in the low 16 bits, or Q_Key
    u8 SL = 0;      ///< 4 bits: SL of the packet
    u8 reserved_84 = 0;
    u32 qp1 = 0; ///< 24 bits: source QP
    u8 reserved_112 = 0;
    u32 qp2 = 0;  ///< 24 bits: destination QP
    gid gidAddr1; ///< source GID, or zero
    gid gidAddr2; ///< destination GID, or zero
    u32 padding = 0;

    friend bool operator==(const NoticeTrap257&, const NoticeTrap257&) = default;
};

/// Trap 259: a switch dropped a packet because of its P_Key.
struct NoticeTrap259 {
    u16 dataValid = 0; ///< set of bits: the members below that the switch filled in
    lid lidAddr1{};    ///< SLID of the packet
    lid lidAddr2{};    ///< DLID of the packet
    u16 PKey = 0;
    u8 SL = 0; ///< 4 bits: SL of the packet
    u8 reserved_68 = 0;
    u32 qp1 = 0; ///< 24 bits: source QP
    u8 reserved_96 = 0;
    u32 qp2 = 0; ///< 24 bits: destination QP
    gid gidAddr1;
    gid gidAddr2;
    lid swLidAddr{}; ///< LID of the switch
    u8 portNum = 0;  ///< ingress port of the packet
    u32 padding = 0; ///< 24 bits

    friend bool operator==(const NoticeTrap259&, const NoticeTrap259&) = default;
};

template <> struct described<NoticeTrap64> : std::true_type {
    using T = NoticeTrap64;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap64", "14.2.5.1",
        reserved<&T::reserved_0,  at{0},   16>{},
        reserved<&T::reserved_16, at{2},   32>{},
        field<&T::gidAddr,        at{6},  128>{"gidAddr"},
        field<&T::padding,        at{22}, 256>{"padding", show::bytes});
    // clang-format on
};

template <> struct described<NoticeTrap128> : std::true_type {
    using T = NoticeTrap128;
    // clang-format off
    static constexpr auto layout = describe<54>("MADNoticeTrap128", "14.2.5.1",
        field<&T::lidAddr, at{0},  16>{"lidAddr"},
        field<&T::padding, at{2}, 416>{"padding", show::bytes});
    // clang-format on
};

template <> struct described<NoticeTrap129> : std::true_type {
    using T = NoticeTrap129;
    // clang-format off
    static constexpr auto layout = describe<54>("MADNoticeTrap129", "14.2.5.1",
        reserved<&T::reserved_0,  at{0},  16>{},
        field<&T::lidAddr,        at{2},  16>{"lidAddr"},
        field<&T::portNum,        at{4},   8>{"portNum"},
        reserved<&T::reserved_40, at{5},   8>{},
        reserved<&T::reserved_48, at{6}, 384>{});
    // clang-format on
};

template <> struct described<NoticeTrap144> : std::true_type {
    using T = NoticeTrap144;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap144", "14.2.5.1",
        reserved<&T::reserved_0,          at{0},      16>{},
        field<&T::lidAddr,                at{2},      16>{"lidAddr"},
        reserved<&T::reserved_32,         at{4},       8>{},
        reserved<&T::reserved_40,         at{5, 0},    7>{},
        field<&T::otherLocalChanges,      at{5, 7},    1>{"otherLocalChanges"},
        field<&T::capabilityMask,         at{6},      32>{"capabilityMask", show::hex},
        reserved<&T::reserved_80,         at{10},      8>{},
        reserved<&T::reserved_88,         at{11, 0},   4>{},
        field<&T::smPriorityChange,       at{11, 4},   1>{"smPriorityChange"},
        field<&T::linkSpeedEnabledChange, at{11, 5},   1>{"linkSpeedEnabledChange"},
        field<&T::linkWidthEnabledChange, at{11, 6},   1>{"linkWidthEnabledChange"},
        field<&T::nodeDescriptionChange,  at{11, 7},   1>{"nodeDescriptionChange"},
        reserved<&T::reserved_96,         at{12},     16>{},
        reserved<&T::reserved_112,        at{14},    320>{});
    // clang-format on
};

template <> struct described<NoticeTrap145> : std::true_type {
    using T = NoticeTrap145;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap145", "14.2.5.1",
        reserved<&T::reserved_0,   at{0},   16>{},
        field<&T::lidAddr,         at{2},   16>{"lidAddr"},
        reserved<&T::reserved_32,  at{4},   16>{},
        field<&T::systemImageGUID, at{6},   64>{"systemImageGUID"},
        reserved<&T::reserved_112, at{14}, 320>{});
    // clang-format on
};

template <> struct described<NoticeTrap256> : std::true_type {
    using T = NoticeTrap256;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap256", "14.2.5.1",
        reserved<&T::reserved_0,        at{0},     16>{},
        field<&T::lidAddr,              at{2},     16>{"lidAddr"},
        field<&T::drSLID,               at{4},     16>{"drSLID"},
        field<&T::method,               at{6},      8>{"method"},
        reserved<&T::reserved_56,       at{7},      8>{},
        field<&T::attributeID,          at{8},     16>{"attributeID"},
        field<&T::attributeModifier,    at{10},    32>{"attributeModifier"},
        field<&T::MKey,                 at{14},    64>{"MKey"},
        reserved<&T::reserved_176,      at{22},     8>{},
        field<&T::drNotice,             at{23, 0},  1>{"drNotice"},
        field<&T::drPathTruncated,      at{23, 1},  1>{"drPathTruncated"},
        field<&T::drHopCount,           at{23, 2},  6>{"drHopCount"},
        field<&T::drNoticeReturnPath0,  at{24},     8>{"drNoticeReturnPath0"},
        field<&T::drNoticeReturnPath1,  at{25},     8>{"drNoticeReturnPath1"},
        field<&T::drNoticeReturnPath2,  at{26},     8>{"drNoticeReturnPath2"},
        field<&T::drNoticeReturnPath3,  at{27},     8>{"drNoticeReturnPath3"},
        field<&T::drNoticeReturnPath4,  at{28},     8>{"drNoticeReturnPath4"},
        field<&T::drNoticeReturnPath5,  at{29},     8>{"drNoticeReturnPath5"},
        field<&T::drNoticeReturnPath6,  at{30},     8>{"drNoticeReturnPath6"},
        field<&T::drNoticeReturnPath7,  at{31},     8>{"drNoticeReturnPath7"},
        field<&T::drNoticeReturnPath8,  at{32},     8>{"drNoticeReturnPath8"},
        field<&T::drNoticeReturnPath9,  at{33},     8>{"drNoticeReturnPath9"},
        field<&T::drNoticeReturnPath10, at{34},     8>{"drNoticeReturnPath10"},
        field<&T::drNoticeReturnPath11, at{35},     8>{"drNoticeReturnPath11"},
        field<&T::drNoticeReturnPath12, at{36},     8>{"drNoticeReturnPath12"},
        field<&T::drNoticeReturnPath13, at{37},     8>{"drNoticeReturnPath13"},
        field<&T::drNoticeReturnPath14, at{38},     8>{"drNoticeReturnPath14"},
        field<&T::drNoticeReturnPath15, at{39},     8>{"drNoticeReturnPath15"},
        field<&T::drNoticeReturnPath16, at{40},     8>{"drNoticeReturnPath16"},
        field<&T::drNoticeReturnPath17, at{41},     8>{"drNoticeReturnPath17"},
        field<&T::drNoticeReturnPath18, at{42},     8>{"drNoticeReturnPath18"},
        field<&T::drNoticeReturnPath19, at{43},     8>{"drNoticeReturnPath19"},
        field<&T::drNoticeReturnPath20, at{44},     8>{"drNoticeReturnPath20"},
        field<&T::drNoticeReturnPath21, at{45},     8>{"drNoticeReturnPath21"},
        field<&T::drNoticeReturnPath22, at{46},     8>{"drNoticeReturnPath22"},
        field<&T::drNoticeReturnPath23, at{47},     8>{"drNoticeReturnPath23"},
        field<&T::drNoticeReturnPath24, at{48},     8>{"drNoticeReturnPath24"},
        field<&T::drNoticeReturnPath25, at{49},     8>{"drNoticeReturnPath25"},
        field<&T::drNoticeReturnPath26, at{50},     8>{"drNoticeReturnPath26"},
        field<&T::drNoticeReturnPath27, at{51},     8>{"drNoticeReturnPath27"},
        field<&T::drNoticeReturnPath28, at{52},     8>{"drNoticeReturnPath28"},
        field<&T::drNoticeReturnPath29, at{53},     8>{"drNoticeReturnPath29"});
    // clang-format on
};

template <> struct described<NoticeTrap257> : std::true_type {
    using T = NoticeTrap257;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap257", "14.2.5.1",
        reserved<&T::reserved_0,   at{0},      16>{},
        field<&T::lidAddr1,        at{2},      16>{"lidAddr1"},
        field<&T::lidAddr2,        at{4},      16>{"lidAddr2"},
        field<&T::key,             at{6},      32>{"key"},
        field<&T::SL,              at{10, 0},   4>{"SL"},
        reserved<&T::reserved_84,  at{10, 4},   4>{},
        field<&T::qp1,             at{11},     24>{"qp1"},
        reserved<&T::reserved_112, at{14},      8>{},
        field<&T::qp2,             at{15},     24>{"qp2"},
        field<&T::gidAddr1,        at{18},    128>{"gidAddr1"},
        field<&T::gidAddr2,        at{34},    128>{"gidAddr2"},
        field<&T::padding,         at{50},     32>{"padding"});
    // clang-format on
};

template <> struct described<NoticeTrap259> : std::true_type {
    using T = NoticeTrap259;
    // clang-format off
    static constexpr auto layout = describe<54, word_alignment::crossed>("MADNoticeTrap259", "14.2.5.1",
        field<&T::dataValid,      at{0},     16>{"dataValid"},
        field<&T::lidAddr1,       at{2},     16>{"lidAddr1"},
        field<&T::lidAddr2,       at{4},     16>{"lidAddr2"},
        field<&T::PKey,           at{6},     16>{"PKey", show::hex},
        field<&T::SL,             at{8, 0},   4>{"SL"},
        reserved<&T::reserved_68, at{8, 4},   4>{},
        field<&T::qp1,            at{9},     24>{"qp1"},
        reserved<&T::reserved_96, at{12},     8>{},
        field<&T::qp2,            at{13},    24>{"qp2"},
        field<&T::gidAddr1,       at{16},   128>{"gidAddr1"},
        field<&T::gidAddr2,       at{32},   128>{"gidAddr2"},
        field<&T::swLidAddr,      at{48},    16>{"swLidAddr"},
        field<&T::portNum,        at{50},     8>{"portNum"},
        field<&T::padding,        at{51},    24>{"padding"});
    // clang-format on
};

// ---- InformInfo -----------------------------------------------------------------------------------------------------

/// Starts or ends a subscription to notices, which the SA then forwards as reports.
struct InformInfo {
    gid GID;             ///< GID of the port whose notices are wanted; zero: the LID range applies
    lid LIDRangeBegin{}; ///< 0xffff: notices of all ports
    lid LIDRangeEnd{};   ///< 0: the range is one LID
    u16 reserved_160 = 0;
    u8 isGeneric = 0;   ///< 1: generic notices, see producerType; 0: notices of a vendor
    u8 subscribe = 0;   ///< 1: subscribe, 0: unsubscribe
    u16 type = 0;       ///< a NoticeType; 0xffff: all types
    u16 trapNumber = 0; ///< 0xffff: all traps
    u32 QPN = 0;        ///< 24 bits: QP that receives the reports, usually 1
    u8 reserved_248 = 0;
    u8 respTimeValue = 0; ///< 5 bits: the subscriber replies to reports within 4.096 us * 2^n
    u8 reserved_256 = 0;
    u32 producerType = 0; ///< 24 bits, a ProducerType; 0xffffff: all types

    friend bool operator==(const InformInfo&, const InformInfo&) = default;
};

template <> struct described<InformInfo> : std::true_type {
    using T = InformInfo;
    // clang-format off
    static constexpr auto layout = describe<36>("MADInformInfo", "13.4.8.3",
        field<&T::GID,             at{0},     128>{"GID"},
        field<&T::LIDRangeBegin,   at{16},     16>{"LIDRangeBegin"},
        field<&T::LIDRangeEnd,     at{18},     16>{"LIDRangeEnd"},
        reserved<&T::reserved_160, at{20},     16>{},
        field<&T::isGeneric,       at{22},      8>{"isGeneric"},
        field<&T::subscribe,       at{23},      8>{"subscribe"},
        field<&T::type,            at{24},     16>{"type"},
        field<&T::trapNumber,      at{26},     16>{"trapNumber"},
        field<&T::QPN,             at{28},     24>{"QPN"},
        reserved<&T::reserved_248, at{31, 0},   3>{},
        field<&T::respTimeValue,   at{31, 3},   5>{"respTimeValue"},
        reserved<&T::reserved_256, at{32},      8>{},
        field<&T::producerType,    at{33},     24>{"producerType"});
    // clang-format on
};
template <> struct attribute_of<InformInfo> : attribute_traits<0x0003, in_class<MgmtClass::SubnAdm, 2, Method::Set>> {};

} // namespace comad::iba
