// SPDX-License-Identifier: MIT
// snmp.hpp - SNMP tunneling: the MAD format and all attributes (IBA 16.4).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Format ---------------------------------------------------------------------------------------------------------

namespace snmp {

/// An SNMP tunneling MAD.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::SNMP};
    std::array<u8, 32> reserved_192{};
    u32 RAddress = 0;           ///< identifies the request at the node that sent it
    u8 payloadLength = 0;       ///< bytes of data in this segment
    u8 segmentNumber = 0;       ///< bit 7: last segment; else number of the segment, starting with 0
    lid sourceLID{};            ///< LID of the sender of the request
    std::array<u8, 192> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

} // namespace snmp

template <> struct described<snmp::Format> : std::true_type {
    using T = snmp::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("SNMPFormat", "16.4.1",
        inlined<&T::header,        at{0}>{},
        reserved<&T::reserved_192, at{24},  256>{},
        field<&T::RAddress,        at{56},   32>{"RAddress"},
        field<&T::payloadLength,   at{60},    8>{"payloadLength"},
        field<&T::segmentNumber,   at{61},    8>{"segmentNumber"},
        field<&T::sourceLID,       at{62},   16>{"sourceLID"},
        field<&T::data,            at{64}, 1536>{"data", show::data});
    // clang-format on
};

// ---- Attributes -----------------------------------------------------------------------------------------------------

namespace snmp {

/// The SNMP community of the PDUs that follow.
struct CommunityInfo {
    std::array<u8, 64> communityName{}; ///< NUL-terminated only if shorter than the field

    friend bool operator==(const CommunityInfo&, const CommunityInfo&) = default;
};

/// A segment of an SNMP PDU.
struct PDUInfo {
    std::array<u8, 192> PDUData{};

    friend bool operator==(const PDUInfo&, const PDUInfo&) = default;
};

} // namespace snmp

template <> struct described<snmp::CommunityInfo> : std::true_type {
    using T = snmp::CommunityInfo;
    // clang-format off
    static constexpr auto layout = describe<64>("SNMPCommunityInfo", "16.4.3.2",
        field<&T::communityName, at{0}, 512>{"communityName", show::text});
    // clang-format on
};
template <>
struct attribute_of<snmp::CommunityInfo> : attribute_traits<0x0010, in_class<MgmtClass::SNMP, 1, Method::Send>> {};

template <> struct described<snmp::PDUInfo> : std::true_type {
    using T = snmp::PDUInfo;
    // clang-format off
    static constexpr auto layout = describe<192>("SNMPPDUInfo", "16.4.3.3",
        field<&T::PDUData, at{0}, 1536>{"PDUData", show::bytes});
    // clang-format on
};
template <>
struct attribute_of<snmp::PDUInfo> : attribute_traits<0x0011, in_class<MgmtClass::SNMP, 1, Method::Send>> {};

} // namespace comad::iba
