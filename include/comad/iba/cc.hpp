// SPDX-License-Identifier: MIT
// cc.hpp - congestion control: the MAD formats and all attributes (IBA A10.4; positions as in OpenSM, libibmad and
// ibis).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Formats --------------------------------------------------------------------------------------------------------

namespace cc {

/// A congestion control MAD, for all attributes except the logs.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::CongestionControl, .classVersion = 2};
    u64 CCKey = 0;
    std::array<u8, 32> reserved_256{};
    std::array<u8, 192> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

/// A congestion control MAD that contains a log.
struct LogFormat {
    MADHeader header{.mgmtClass = MgmtClass::CongestionControl, .classVersion = 2};
    u64 CCKey = 0;
    std::array<u8, 224> data{}; ///< the attribute

    friend bool operator==(const LogFormat&, const LogFormat&) = default;
};

} // namespace cc

template <> struct described<cc::Format> : std::true_type {
    using T = cc::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("CCFormat", "A10.4",
        inlined<&T::header,        at{0}>{},
        field<&T::CCKey,           at{24},   64>{"CCKey", show::hex},
        reserved<&T::reserved_256, at{32},  256>{},
        field<&T::data,            at{64}, 1536>{"data", show::data});
    // clang-format on
};

template <> struct described<cc::LogFormat> : std::true_type {
    using T = cc::LogFormat;
    // clang-format off
    static constexpr auto layout = describe<256>("CCLogFormat", "A10.4",
        inlined<&T::header, at{0}>{},
        field<&T::CCKey,    at{24},   64>{"CCKey", show::hex},
        field<&T::data,     at{32}, 1792>{"data", show::data});
    // clang-format on
};

// ---- Information and key --------------------------------------------------------------------------------------------

namespace cc {

/// The congestion control capabilities of a node.
struct CongestionInfo {
    u16 congestionInfo = 0; ///< for a switch, 1: credit starvation is supported
    u8 controlTableCap = 0; ///< for a CA: number of 64-entry blocks in the congestion control table

    friend bool operator==(const CongestionInfo&, const CongestionInfo&) = default;
};

/// The key that congestion control MADs must carry.
struct CongestionKeyInfo {
    u64 CCKey = 0; ///< 0: no key is required
    bool CCKeyProtectBit = false;
    u16 reserved_65 = 0;
    u16 CCKeyLeasePeriod = 0; ///< seconds; 0: the protect bit stays set
    u16 CCKeyViolations = 0;

    friend bool operator==(const CongestionKeyInfo&, const CongestionKeyInfo&) = default;
};

} // namespace cc

template <> struct described<cc::CongestionInfo> : std::true_type {
    using T = cc::CongestionInfo;
    // clang-format off
    static constexpr auto layout = describe<3>("CCCongestionInfo", "A10.4.3.3",
        field<&T::congestionInfo,  at{0}, 16>{"congestionInfo", show::hex},
        field<&T::controlTableCap, at{2},  8>{"controlTableCap"});
    // clang-format on
};
template <>
struct attribute_of<cc::CongestionInfo>
    : attribute_traits<0x0011, in_class<MgmtClass::CongestionControl, 2, Method::Get>> {};

template <> struct described<cc::CongestionKeyInfo> : std::true_type {
    using T = cc::CongestionKeyInfo;
    // clang-format off
    static constexpr auto layout = describe<14>("CCCongestionKeyInfo", "A10.4.3.4",
        field<&T::CCKey,            at{0},    64>{"CCKey", show::hex},
        field<&T::CCKeyProtectBit,  at{8, 0},  1>{"CCKeyProtectBit"},
        reserved<&T::reserved_65,   at{8, 1}, 15>{},
        field<&T::CCKeyLeasePeriod, at{10},   16>{"CCKeyLeasePeriod"},
        field<&T::CCKeyViolations,  at{12},   16>{"CCKeyViolations"});
    // clang-format on
};
template <>
struct attribute_of<cc::CongestionKeyInfo>
    : attribute_traits<0x0012, in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>> {};

// ---- Logs -----------------------------------------------------------------------------------------------------------

namespace cc {

/// A packet that a switch marked.
struct CongestionLogEventSwitch {
    lid SLID{};
    lid DLID{};
    u8 SL = 0; ///< 4 bits
    u32 reserved_36 = 0;
    u32 timestamp = 0; ///< in 1.024 us

    friend bool operator==(const CongestionLogEventSwitch&, const CongestionLogEventSwitch&) = default;
};

/// The congestion log of a switch.
struct CongestionLogSwitch {
    u8 logType = 0;               ///< 1
    u8 congestionFlags = 0;       ///< 1: the lease period of the CC_Key is running
    u16 logEventsCounter = 0;     ///< events since the log was last read
    u32 currentTimeStamp = 0;     ///< in 1.024 us
    std::array<u8, 32> portMap{}; ///< ports that marked packets; bit 0 is the last
    std::array<CongestionLogEventSwitch, 15> congestionLogEvent{};

    friend bool operator==(const CongestionLogSwitch&, const CongestionLogSwitch&) = default;
};

/// A connection of a CA that exceeded its threshold.
struct CongestionLogEventCA {
    u32 localQP = 0; ///< 24 bits; 0: the event belongs to the whole port
    u8 reserved_24 = 0;
    u32 remoteQP = 0;   ///< 24 bits; 0: datagrams
    u8 SL = 0;          ///< 4 bits
    u8 serviceType = 0; ///< 4 bits: 0 RC, 1 UC, 2 RD, 3 UD
    lid remoteLID{};    ///< 0: datagrams
    u16 reserved_80 = 0;
    u32 timestamp = 0; ///< in 1.024 us

    friend bool operator==(const CongestionLogEventCA&, const CongestionLogEventCA&) = default;
};

/// The congestion log of a CA. It is the same attribute as the log of a switch; logType distinguishes the two.
struct CongestionLogCA {
    u8 logType = 0;                      ///< 2
    u8 congestionFlags = 0;              ///< 1: the lease period of the CC_Key is running
    u16 thresholdEventCounter = 0;       ///< events since the log was last read
    u16 thresholdCongestionEventMap = 0; ///< bit n: events of SL n
    u16 reserved_48 = 0;
    u32 currentTimeStamp = 0; ///< in 1.024 us
    std::array<CongestionLogEventCA, 13> congestionLogEvent{};

    friend bool operator==(const CongestionLogCA&, const CongestionLogCA&) = default;
};

} // namespace cc

template <> struct described<cc::CongestionLogEventSwitch> : std::true_type {
    using T = cc::CongestionLogEventSwitch;
    // clang-format off
    static constexpr auto layout = describe<12>("CCCongestionLogEventSwitch", "A10.4.3.5",
        field<&T::SLID,           at{0},    16>{"SLID"},
        field<&T::DLID,           at{2},    16>{"DLID"},
        field<&T::SL,             at{4, 0},  4>{"SL"},
        reserved<&T::reserved_36, at{4, 4}, 28>{},
        field<&T::timestamp,      at{8},    32>{"timestamp"});
    // clang-format on
};

template <> struct described<cc::CongestionLogSwitch> : std::true_type {
    using T = cc::CongestionLogSwitch;
    // clang-format off
    static constexpr auto layout = describe<220>("CCCongestionLogSwitch", "A10.4.3.5",
        field<&T::logType,            at{0},     8>{"logType"},
        field<&T::congestionFlags,    at{1},     8>{"congestionFlags", show::hex},
        field<&T::logEventsCounter,   at{2},    16>{"logEventsCounter"},
        field<&T::currentTimeStamp,   at{4},    32>{"currentTimeStamp"},
        field<&T::portMap,            at{8},   256>{"portMap", show::bytes},
        field<&T::congestionLogEvent, at{40}, 1440>{"congestionLogEvent"});
    // clang-format on
};
template <>
struct attribute_of<cc::CongestionLogSwitch>
    : attribute_traits<0x0013, in_class<MgmtClass::CongestionControl, 2, Method::Get>> {};

template <> struct described<cc::CongestionLogEventCA> : std::true_type {
    using T = cc::CongestionLogEventCA;
    // clang-format off
    // The layout is the layout of ib_cong_log_event_ca_t of OpenSM and CongestionLogEventListCAElement of ibis.
    // libibmad has SL and serviceType in the first word, and a local LID before the remote one.
    static constexpr auto layout = describe<16>("CCCongestionLogEventCA", "A10.4.3.5",
        field<&T::localQP,        at{0},    24>{"localQP"},
        reserved<&T::reserved_24, at{3},     8>{},
        field<&T::remoteQP,       at{4},    24>{"remoteQP"},
        field<&T::SL,             at{7, 0},  4>{"SL"},
        field<&T::serviceType,    at{7, 4},  4>{"serviceType"},
        field<&T::remoteLID,      at{8},    16>{"remoteLID"},
        reserved<&T::reserved_80, at{10},   16>{},
        field<&T::timestamp,      at{12},   32>{"timestamp"});
    // clang-format on
};

template <> struct described<cc::CongestionLogCA> : std::true_type {
    using T = cc::CongestionLogCA;
    // clang-format off
    static constexpr auto layout = describe<220>("CCCongestionLogCA", "A10.4.3.5",
        field<&T::logType,                     at{0},     8>{"logType"},
        field<&T::congestionFlags,             at{1},     8>{"congestionFlags", show::hex},
        field<&T::thresholdEventCounter,       at{2},    16>{"thresholdEventCounter"},
        field<&T::thresholdCongestionEventMap, at{4},    16>{"thresholdCongestionEventMap", show::hex},
        reserved<&T::reserved_48,              at{6},    16>{},
        field<&T::currentTimeStamp,            at{8},    32>{"currentTimeStamp"},
        field<&T::congestionLogEvent,          at{12}, 1664>{"congestionLogEvent"});
    // clang-format on
};
template <>
struct attribute_of<cc::CongestionLogCA>
    : attribute_traits<0x0013, in_class<MgmtClass::CongestionControl, 2, Method::Get>> {};

// ---- Switches -------------------------------------------------------------------------------------------------------

namespace cc {

/// The settings with which a switch marks packets.
struct SwitchCongestionSetting {
    u32 controlMap = 0;              ///< for a Set: which members are written: bit 0 victimMask, ..., bit 4 markingRate
    std::array<u8, 32> victimMask{}; ///< ports that mark packets even if the congestion starts elsewhere; bit 0 is the
                                     ///< last port
    std::array<u8, 32> creditMask{}; ///< ports that apply credit starvation; bit 0 is the last port
    u8 threshold = 0;                ///< 4 bits: 0 never, 15 earliest
    u8 reserved_548 = 0;
    u8 packetSize = 0;  ///< smallest packets that are marked, in 64 bytes
    u8 CSThreshold = 0; ///< 4 bits: threshold of credit starvation
    u16 reserved_564 = 0;
    u16 CSReturnDelay = 0; ///< delay before credits are returned
    u16 markingRate = 0;   ///< mean number of packets between two marked ones

    friend bool operator==(const SwitchCongestionSetting&, const SwitchCongestionSetting&) = default;
};

/// The settings with which one port of a switch marks packets.
struct SwitchPortCongestionSettingElement {
    bool valid = false;
    bool controlType = false; ///< false: congestion control, true: credit starvation
    u8 reserved_2 = 0;
    u8 threshold = 0;            ///< 4 bits: 0 never, 15 earliest
    u8 packetSize = 0;           ///< smallest packets that are marked, in 64 bytes
    u16 congParmMarkingRate = 0; ///< mean number of packets between two marked ones

    friend bool operator==(const SwitchPortCongestionSettingElement&,
                           const SwitchPortCongestionSettingElement&) = default;
};

/// The settings of 32 ports; attribute modifier n: ports from 32 * n.
struct SwitchPortCongestionSetting {
    std::array<SwitchPortCongestionSettingElement, 32> element{};

    friend bool operator==(const SwitchPortCongestionSetting&, const SwitchPortCongestionSetting&) = default;
};

} // namespace cc

template <> struct described<cc::SwitchCongestionSetting> : std::true_type {
    using T = cc::SwitchCongestionSetting;
    // clang-format off
    static constexpr auto layout = describe<76>("CCSwitchCongestionSetting", "A10.4.3.6",
        field<&T::controlMap,      at{0},      32>{"controlMap", show::hex},
        field<&T::victimMask,      at{4},     256>{"victimMask", show::bytes},
        field<&T::creditMask,      at{36},    256>{"creditMask", show::bytes},
        field<&T::threshold,       at{68, 0},   4>{"threshold"},
        reserved<&T::reserved_548, at{68, 4},   4>{},
        field<&T::packetSize,      at{69},      8>{"packetSize"},
        field<&T::CSThreshold,     at{70, 0},   4>{"CSThreshold"},
        reserved<&T::reserved_564, at{70, 4},  12>{},
        field<&T::CSReturnDelay,   at{72},     16>{"CSReturnDelay"},
        field<&T::markingRate,     at{74},     16>{"markingRate"});
    // clang-format on
};
template <>
struct attribute_of<cc::SwitchCongestionSetting>
    : attribute_traits<0x0014, in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>> {};

template <> struct described<cc::SwitchPortCongestionSettingElement> : std::true_type {
    using T = cc::SwitchPortCongestionSettingElement;
    // clang-format off
    static constexpr auto layout = describe<4>("CCSwitchPortCongestionSettingElement", "A10.4.3.7",
        field<&T::valid,               at{0, 0},  1>{"valid"},
        field<&T::controlType,         at{0, 1},  1>{"controlType"},
        reserved<&T::reserved_2,       at{0, 2},  2>{},
        field<&T::threshold,           at{0, 4},  4>{"threshold"},
        field<&T::packetSize,          at{1},     8>{"packetSize"},
        field<&T::congParmMarkingRate, at{2},    16>{"congParmMarkingRate"});
    // clang-format on
};

template <> struct described<cc::SwitchPortCongestionSetting> : std::true_type {
    using T = cc::SwitchPortCongestionSetting;
    // clang-format off
    static constexpr auto layout = describe<128>("CCSwitchPortCongestionSetting", "A10.4.3.7",
        field<&T::element, at{0}, 1024>{"element"});
    // clang-format on
};
template <>
struct attribute_of<cc::SwitchPortCongestionSetting>
    : attribute_traits<0x0015, in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>> {};

// ---- CAs ------------------------------------------------------------------------------------------------------------

namespace cc {

/// How a CA reduces the rate of a service level. CCTI is the index of the service level into the congestion control
/// table.
struct CACongestionEntry {
    u16 CCTITimer = 0;       ///< in 1.024 us: time after which the CCTI decreases by one
    u8 CCTIIncrease = 0;     ///< increase of the CCTI for each BECN
    u8 triggerThreshold = 0; ///< the CCTI at which an event is logged
    u8 CCTIMin = 0;          ///< the lowest CCTI
    u32 reserved_40 = 0;

    friend bool operator==(const CACongestionEntry&, const CACongestionEntry&) = default;
};

/// How a CA reduces its rate, for each service level.
struct CACongestionSetting {
    u16 portControl = 0; ///< 0: by QP, 1: by SL
    u16 controlMap = 0;  ///< for a Set, bit n: the entry of SL n is written
    std::array<CACongestionEntry, 16> congestionEntry{};

    friend bool operator==(const CACongestionSetting&, const CACongestionSetting&) = default;
};

/// A delay between packets: the transmission time of the packet, shifted right by CCTShift, times CCTMultiplier.
struct CongestionControlTableEntry {
    u8 CCTShift = 0;       ///< 2 bits
    u16 CCTMultiplier = 0; ///< 14 bits

    friend bool operator==(const CongestionControlTableEntry&, const CongestionControlTableEntry&) = default;
};

/// 64 entries of the congestion control table of a CA; the attribute modifier is the number of the block.
struct CongestionControlTable {
    u16 CCTILimit = 0; ///< the highest index in the whole table
    u16 reserved_16 = 0;
    std::array<CongestionControlTableEntry, 64> entry{};

    friend bool operator==(const CongestionControlTable&, const CongestionControlTable&) = default;
};

} // namespace cc

template <> struct described<cc::CACongestionEntry> : std::true_type {
    using T = cc::CACongestionEntry;
    // clang-format off
    static constexpr auto layout = describe<8>("CCCACongestionEntry", "A10.4.3.8",
        field<&T::CCTITimer,        at{0}, 16>{"CCTITimer"},
        field<&T::CCTIIncrease,     at{2},  8>{"CCTIIncrease"},
        field<&T::triggerThreshold, at{3},  8>{"triggerThreshold"},
        field<&T::CCTIMin,          at{4},  8>{"CCTIMin"},
        reserved<&T::reserved_40,   at{5}, 24>{});
    // clang-format on
};

template <> struct described<cc::CACongestionSetting> : std::true_type {
    using T = cc::CACongestionSetting;
    // clang-format off
    static constexpr auto layout = describe<132>("CCCACongestionSetting", "A10.4.3.8",
        field<&T::portControl,     at{0},   16>{"portControl", show::hex},
        field<&T::controlMap,      at{2},   16>{"controlMap", show::hex},
        field<&T::congestionEntry, at{4}, 1024>{"congestionEntry"});
    // clang-format on
};
template <>
struct attribute_of<cc::CACongestionSetting>
    : attribute_traits<0x0016, in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>> {};

template <> struct described<cc::CongestionControlTableEntry> : std::true_type {
    using T = cc::CongestionControlTableEntry;
    // clang-format off
    static constexpr auto layout = describe<2>("CCCongestionControlTableEntry", "A10.4.3.9",
        field<&T::CCTShift,      at{0, 0},  2>{"CCTShift"},
        field<&T::CCTMultiplier, at{0, 2}, 14>{"CCTMultiplier"});
    // clang-format on
};

template <> struct described<cc::CongestionControlTable> : std::true_type {
    using T = cc::CongestionControlTable;
    // clang-format off
    static constexpr auto layout = describe<132>("CCCongestionControlTable", "A10.4.3.9",
        field<&T::CCTILimit,      at{0},   16>{"CCTILimit"},
        reserved<&T::reserved_16, at{2},   16>{},
        field<&T::entry,          at{4}, 1024>{"entry"});
    // clang-format on
};
template <>
struct attribute_of<cc::CongestionControlTable>
    : attribute_traits<0x0017, in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>> {};

// ---- TimeStamp ------------------------------------------------------------------------------------------------------

namespace cc {

/// The clock of the logs.
struct TimeStamp {
    u32 timeStamp = 0; ///< in 1.024 us

    friend bool operator==(const TimeStamp&, const TimeStamp&) = default;
};

} // namespace cc

template <> struct described<cc::TimeStamp> : std::true_type {
    using T = cc::TimeStamp;
    // clang-format off
    static constexpr auto layout = describe<4>("CCTimeStamp", "A10.4.3.10",
        field<&T::timeStamp, at{0}, 32>{"timeStamp"});
    // clang-format on
};
template <>
struct attribute_of<cc::TimeStamp> : attribute_traits<0x0018, in_class<MgmtClass::CongestionControl, 2, Method::Get>> {
};

} // namespace comad::iba
