// SPDX-License-Identifier: MIT
// groups.hpp - SA records of subscriptions, services and multicast groups (IBA 15.2.5).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/iba/notice.hpp>

#include <array>

namespace comad::iba {

// ---- Notices --------------------------------------------------------------------------------------------------------

namespace sa {

/// A subscription to notices.
struct InformInfoRecord {
    gid subscriberGID;
    u16 enumeration = 0; ///< number of the subscription among those of one subscriber
    u16 reserved_144 = 0;
    u32 reserved_160 = 0;
    InformInfo informInfo;
    u32 reserved_480 = 0;

    friend bool operator==(const InformInfoRecord&, const InformInfoRecord&) = default;
};

} // namespace sa

template <> struct described<sa::InformInfoRecord> : std::true_type {
    using T = sa::InformInfoRecord;
    // clang-format off
    // 64 bytes as in OpenSM; in other descriptions 80 bytes.
    static constexpr auto layout = describe<64>("SAInformInfoRecord", "15.2.5.12",
        field<&T::subscriberGID,   at{0},  128>{"subscriberGID"},
        field<&T::enumeration,     at{16},  16>{"enumeration"},
        reserved<&T::reserved_144, at{18},  16>{},
        reserved<&T::reserved_160, at{20},  32>{nullptr, mask::none},
        field<&T::informInfo,      at{24}, 288>{"informInfo"},
        reserved<&T::reserved_480, at{60},  32>{});
    // clang-format on
};
template <>
struct attribute_of<sa::InformInfoRecord>
    : attribute_traits<0x00f3, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

// ---- Services -------------------------------------------------------------------------------------------------------

namespace sa {

/// A service that a port offers. Set registers the service, Delete removes it.
struct ServiceRecord {
    u64 serviceID = 0;
    gid serviceGID; ///< GID of the port that offers the service
    u16 servicePKey = 0;
    u16 reserved_208 = 0;
    u32 serviceLease = 0;              ///< seconds; 0xffffffff: unlimited
    gid serviceKey;                    ///< key that requests need to change or delete the record
    std::array<u8, 64> serviceName{};  ///< UTF-8; NUL-terminated only if shorter than the field
    std::array<u8, 16> serviceData8{}; ///< data that the service defines, as are the three arrays below
    std::array<u16, 8> serviceData16{};
    std::array<u32, 4> serviceData32{};
    std::array<u64, 2> serviceData64{};

    friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

/// A service key and the name of a service.
struct ServiceAssociationRecord {
    gid serviceKey;                   ///< of ServiceRecord
    std::array<u8, 64> serviceName{}; ///< of ServiceRecord

    friend bool operator==(const ServiceAssociationRecord&, const ServiceAssociationRecord&) = default;
};

} // namespace sa

template <> struct described<sa::ServiceRecord> : std::true_type {
    using T = sa::ServiceRecord;
    // clang-format off
    static constexpr auto layout = describe<176>("SAServiceRecord", "15.2.5.14",
        field<&T::serviceID,       at{0},    64>{"serviceID", show::hex},
        field<&T::serviceGID,      at{8},   128>{"serviceGID"},
        field<&T::servicePKey,     at{24},   16>{"servicePKey", show::hex},
        reserved<&T::reserved_208, at{26},   16>{},
        field<&T::serviceLease,    at{28},   32>{"serviceLease"},
        field<&T::serviceKey,      at{32},  128>{"serviceKey"},
        field<&T::serviceName,     at{48},  512>{"serviceName", show::text},
        field<&T::serviceData8,    at{112}, 128>{"serviceData8", mask::each},
        field<&T::serviceData16,   at{128}, 128>{"serviceData16", mask::each},
        field<&T::serviceData32,   at{144}, 128>{"serviceData32", mask::each},
        field<&T::serviceData64,   at{160}, 128>{"serviceData64", mask::each});
    // clang-format on
};
template <>
struct attribute_of<sa::ServiceRecord>
    : attribute_traits<0x0031,
                       in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::Set, Method::GetTable, Method::Delete>> {};

template <> struct described<sa::ServiceAssociationRecord> : std::true_type {
    using T = sa::ServiceAssociationRecord;
    // clang-format off
    static constexpr auto layout = describe<80>("SAServiceAssociationRecord", "15.2.5.15",
        field<&T::serviceKey,  at{0},  128>{"serviceKey"},
        field<&T::serviceName, at{16}, 512>{"serviceName", show::text});
    // clang-format on
};
template <>
struct attribute_of<sa::ServiceAssociationRecord>
    : attribute_traits<0x003b, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

// ---- Multicast groups -----------------------------------------------------------------------------------------------

namespace sa {

/// A member of a multicast group, and the group. Set joins or creates the group, Delete leaves it.
struct MCMemberRecord {
    gid MGID;
    gid portGID; ///< GID of the member
    u32 QKey = 0;
    lid MLID{};
    Selector MTUSelector{}; ///< 2 bits
    iba::MTU MTU{};         ///< 6 bits
    u8 TClass = 0;
    u16 PKey = 0;
    Selector rateSelector{};           ///< 2 bits
    Rate rate{};                       ///< 6 bits
    Selector packetLifeTimeSelector{}; ///< 2 bits
    u8 packetLifeTime = 0;             ///< 6 bits: 4.096 us * 2^n
    u8 SL = 0;                         ///< 4 bits
    u32 flowLabel = 0;                 ///< 20 bits
    u8 hopLimit = 0;
    u8 scope = 0;           ///< 4 bits
    u8 joinState = 0;       ///< 4 bits, set of bits: 1 full, 2 non-member, 4 send-only non-member, 8 send-only full
    bool proxyJoin = false; ///< the request is for another port than the one that sends it
    u32 reserved_393 = 0;

    friend bool operator==(const MCMemberRecord&, const MCMemberRecord&) = default;
};

} // namespace sa

template <> struct described<sa::MCMemberRecord> : std::true_type {
    using T = sa::MCMemberRecord;
    // clang-format off
    static constexpr auto layout = describe<52>("SAMCMemberRecord", "15.2.5.17",
        field<&T::MGID,                   at{0},     128>{"MGID"},
        field<&T::portGID,                at{16},    128>{"portGID"},
        field<&T::QKey,                   at{32},     32>{"QKey", show::hex},
        field<&T::MLID,                   at{36},     16>{"MLID", show::hex},
        field<&T::MTUSelector,            at{38, 0},   2>{"MTUSelector"},
        field<&T::MTU,                    at{38, 2},   6>{"MTU"},
        field<&T::TClass,                 at{39},      8>{"TClass", show::hex},
        field<&T::PKey,                   at{40},     16>{"PKey", show::hex},
        field<&T::rateSelector,           at{42, 0},   2>{"rateSelector"},
        field<&T::rate,                   at{42, 2},   6>{"rate"},
        field<&T::packetLifeTimeSelector, at{43, 0},   2>{"packetLifeTimeSelector"},
        field<&T::packetLifeTime,         at{43, 2},   6>{"packetLifeTime"},
        field<&T::SL,                     at{44, 0},   4>{"SL"},
        field<&T::flowLabel,              at{44, 4},  20>{"flowLabel"},
        field<&T::hopLimit,               at{47},      8>{"hopLimit"},
        field<&T::scope,                  at{48, 0},   4>{"scope"},
        field<&T::joinState,              at{48, 4},   4>{"joinState"},
        field<&T::proxyJoin,              at{49, 0},   1>{"proxyJoin"},
        reserved<&T::reserved_393,        at{49, 1},  23>{});
    // clang-format on
};
template <>
struct attribute_of<sa::MCMemberRecord>
    : attribute_traits<0x0038,
                       in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::Set, Method::GetTable, Method::Delete>> {};

} // namespace comad::iba
