// SPDX-License-Identifier: MIT
// paths.hpp - SA records of links and paths (IBA 15.2.5).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

namespace comad::iba {

// ---- Links ----------------------------------------------------------------------------------------------------------

namespace sa {

/// A link: the ports at its two ends.
struct LinkRecord {
    lid fromLID{};
    u8 fromPort = 0;
    u8 toPort = 0;
    lid toLID{};
    u16 reserved_48 = 0;

    friend bool operator==(const LinkRecord&, const LinkRecord&) = default;
};

} // namespace sa

template <> struct described<sa::LinkRecord> : std::true_type {
    using T = sa::LinkRecord;
    // clang-format off
    static constexpr auto layout = describe<8>("SALinkRecord", "15.2.5.13",
        field<&T::fromLID,        at{0}, 16>{"fromLID"},
        field<&T::fromPort,       at{2},  8>{"fromPort"},
        field<&T::toPort,         at{3},  8>{"toPort"},
        field<&T::toLID,          at{4}, 16>{"toLID"},
        reserved<&T::reserved_48, at{6}, 16>{});
    // clang-format on
};
template <>
struct attribute_of<sa::LinkRecord>
    : attribute_traits<0x0020, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

// ---- Paths ----------------------------------------------------------------------------------------------------------

namespace sa {

/// A path between two ports.
struct PathRecord {
    u64 serviceID = 0; ///< service for which the path is requested
    gid DGID;
    gid SGID;
    lid DLID{};
    lid SLID{};
    bool rawTraffic = false; ///< the path carries raw packets
    u8 reserved_353 = 0;
    u32 flowLabel = 0; ///< 20 bits
    u8 hopLimit = 0;
    u8 TClass = 0;
    bool reversible = false; ///< the path in the reverse direction has the same properties
    u8 numbPath = 0;         ///< 7 bits: for a query, the largest number of paths
    u16 PKey = 0;
    u16 QOSClass = 0;                  ///< 12 bits
    u8 SL = 0;                         ///< 4 bits
    Selector MTUSelector{};            ///< 2 bits
    iba::MTU MTU{};                    ///< 6 bits
    Selector rateSelector{};           ///< 2 bits
    Rate rate{};                       ///< 6 bits
    Selector packetLifeTimeSelector{}; ///< 2 bits
    u8 packetLifeTime = 0;             ///< 6 bits: 4.096 us * 2^n
    u8 preference = 0;                 ///< 0: best
    u8 reversePathPKeyMemberBit = 0;   ///< 2 bits
    u16 reserved_466 = 0;
    u32 reserved_480 = 0;

    friend bool operator==(const PathRecord&, const PathRecord&) = default;
};

/// A request for paths between groups of ports. SDGID and the bytes after it contain the GIDs: SGIDCount sources, then
/// DGIDCount destinations.
struct MultiPathRecord {
    bool rawTraffic = false;
    u8 reserved_1 = 0;
    u32 flowLabel = 0; ///< 20 bits
    u8 hopLimit = 0;
    u8 TClass = 0;
    bool reversible = false; ///< the path in the reverse direction has the same properties
    u8 numbPath = 0;         ///< 7 bits: the largest number of paths for each pair of ports
    u16 PKey = 0;
    u16 QOSClass = 0;                  ///< 12 bits
    u8 SL = 0;                         ///< 4 bits
    Selector MTUSelector{};            ///< 2 bits
    iba::MTU MTU{};                    ///< 6 bits
    Selector rateSelector{};           ///< 2 bits
    Rate rate{};                       ///< 6 bits
    Selector packetLifeTimeSelector{}; ///< 2 bits
    u8 packetLifeTime = 0;             ///< 6 bits: 4.096 us * 2^n
    u8 serviceID8MSB = 0;              ///< upper 8 bits of the service ID for which the paths are requested
    u8 independenceSelector = 0;       ///< 2 bits: 2: the paths share as few links and nodes as possible
    u8 reserved_114 = 0;
    u8 SGIDCount = 0;       ///< number of source GIDs
    u8 DGIDCount = 0;       ///< number of destination GIDs
    u64 serviceID56LSB = 0; ///< lower 56 bits of the service ID
    gid SDGID;

    friend bool operator==(const MultiPathRecord&, const MultiPathRecord&) = default;
};

/// A hop of a path, in the order of the path. The IDs identify nodes, chassis and ports; they do not contain GUIDs.
struct TraceRecord {
    u64 GIDPrefix = 0;
    u16 IDGeneration = 0; ///< IDs of different generations are not comparable
    u8 reserved_80 = 0;
    NodeType nodeType{};
    u64 nodeID = 0; ///< scrambled GUID, like the IDs below
    u64 chassisID = 0;
    u64 entryPortID = 0;
    u64 exitPortID = 0;
    u8 entryPort = 0;
    u8 exitPort = 0;
    u16 reserved_368 = 0;

    friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};

} // namespace sa

template <> struct described<sa::PathRecord> : std::true_type {
    using T = sa::PathRecord;
    // clang-format off
    static constexpr auto layout = describe<64>("SAPathRecord", "15.2.5.16",
        field<&T::serviceID,                at{0},      64>{"serviceID", {show::hex, mask::two}},
        field<&T::DGID,                     at{8},     128>{"DGID"},
        field<&T::SGID,                     at{24},    128>{"SGID"},
        field<&T::DLID,                     at{40},     16>{"DLID"},
        field<&T::SLID,                     at{42},     16>{"SLID"},
        field<&T::rawTraffic,               at{44, 0},   1>{"rawTraffic"},
        reserved<&T::reserved_353,          at{44, 1},   3>{},
        field<&T::flowLabel,                at{44, 4},  20>{"flowLabel"},
        field<&T::hopLimit,                 at{47},      8>{"hopLimit"},
        field<&T::TClass,                   at{48},      8>{"TClass", show::hex},
        field<&T::reversible,               at{49, 0},   1>{"reversible"},
        field<&T::numbPath,                 at{49, 1},   7>{"numbPath"},
        field<&T::PKey,                     at{50},     16>{"PKey", show::hex},
        field<&T::QOSClass,                 at{52, 0},  12>{"QOSClass", show::hex},
        field<&T::SL,                       at{53, 4},   4>{"SL"},
        field<&T::MTUSelector,              at{54, 0},   2>{"MTUSelector"},
        field<&T::MTU,                      at{54, 2},   6>{"MTU"},
        field<&T::rateSelector,             at{55, 0},   2>{"rateSelector"},
        field<&T::rate,                     at{55, 2},   6>{"rate"},
        field<&T::packetLifeTimeSelector,   at{56, 0},   2>{"packetLifeTimeSelector"},
        field<&T::packetLifeTime,           at{56, 2},   6>{"packetLifeTime"},
        field<&T::preference,               at{57},      8>{"preference"},
        field<&T::reversePathPKeyMemberBit, at{58, 0},   2>{"reversePathPKeyMemberBit"},
        reserved<&T::reserved_466,          at{58, 2},  14>{},
        reserved<&T::reserved_480,          at{60},     32>{});
    // clang-format on
};
template <>
struct attribute_of<sa::PathRecord>
    : attribute_traits<0x0035, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::MultiPathRecord> : std::true_type {
    using T = sa::MultiPathRecord;
    // clang-format off
    // QOSClass and serviceID as in OpenSM. The mask has one bit for the 56 bits of the service ID.
    static constexpr auto layout = describe<40>("SAMultiPathRecord", "15.2.5.20",
        field<&T::rawTraffic,             at{0, 0},    1>{"rawTraffic"},
        reserved<&T::reserved_1,          at{0, 1},    3>{},
        field<&T::flowLabel,              at{0, 4},   20>{"flowLabel"},
        field<&T::hopLimit,               at{3},       8>{"hopLimit"},
        field<&T::TClass,                 at{4},       8>{"TClass", show::hex},
        field<&T::reversible,             at{5, 0},    1>{"reversible"},
        field<&T::numbPath,               at{5, 1},    7>{"numbPath"},
        field<&T::PKey,                   at{6},      16>{"PKey", show::hex},
        field<&T::QOSClass,               at{8, 0},   12>{"QOSClass", show::hex},
        field<&T::SL,                     at{9, 4},    4>{"SL"},
        field<&T::MTUSelector,            at{10, 0},   2>{"MTUSelector"},
        field<&T::MTU,                    at{10, 2},   6>{"MTU"},
        field<&T::rateSelector,           at{11, 0},   2>{"rateSelector"},
        field<&T::rate,                   at{11, 2},   6>{"rate"},
        field<&T::packetLifeTimeSelector, at{12, 0},   2>{"packetLifeTimeSelector"},
        field<&T::packetLifeTime,         at{12, 2},   6>{"packetLifeTime"},
        field<&T::serviceID8MSB,          at{13},      8>{"serviceID8MSB", show::hex},
        field<&T::independenceSelector,   at{14, 0},   2>{"independenceSelector"},
        reserved<&T::reserved_114,        at{14, 2},   6>{},
        field<&T::SGIDCount,              at{15},      8>{"SGIDCount"},
        field<&T::DGIDCount,              at{16},      8>{"DGIDCount"},
        field<&T::serviceID56LSB,         at{17},     56>{"serviceID56LSB", show::hex},
        field<&T::SDGID,                  at{24},    128>{"SDGID"});
    // clang-format on
};
template <>
struct attribute_of<sa::MultiPathRecord> : attribute_traits<0x003a, in_class<MgmtClass::SubnAdm, 2, Method::GetMulti>> {
};

template <> struct described<sa::TraceRecord> : std::true_type {
    using T = sa::TraceRecord;
    // clang-format off
    static constexpr auto layout = describe<48>("SATraceRecord", "15.2.5.19",
        field<&T::GIDPrefix,       at{0},  64>{"GIDPrefix", show::prefix},
        field<&T::IDGeneration,    at{8},  16>{"IDGeneration"},
        reserved<&T::reserved_80,  at{10},  8>{},
        field<&T::nodeType,        at{11},  8>{"nodeType", show::name},
        field<&T::nodeID,          at{12}, 64>{"nodeID"},
        field<&T::chassisID,       at{20}, 64>{"chassisID"},
        field<&T::entryPortID,     at{28}, 64>{"entryPortID"},
        field<&T::exitPortID,      at{36}, 64>{"exitPortID"},
        field<&T::entryPort,       at{44},  8>{"entryPort"},
        field<&T::exitPort,        at{45},  8>{"exitPort"},
        reserved<&T::reserved_368, at{46}, 16>{});
    // clang-format on
};
template <>
struct attribute_of<sa::TraceRecord>
    : attribute_traits<0x0039, in_class<MgmtClass::SubnAdm, 2, Method::GetTraceTable>> {};

} // namespace comad::iba
