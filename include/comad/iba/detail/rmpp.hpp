// SPDX-License-Identifier: MIT
// rmpp.hpp - headers and packets of the reliable multi-packet protocol (IBA 13.6.2).
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Headers --------------------------------------------------------------------------------------------------------

namespace rmpp {

/// The header before the class header, in classes with RMPP.
struct Header {
    iba::MADHeader header;
    u8 RMPPVersion = 0; ///< 1; 0: not an RMPP packet
    iba::RMPPType RMPPType{};
    u8 RRespTime = 0;  ///< 5 bits: 4.096 us * 2^n; 31: not specified
    u8 RMPPFlags = 0;  ///< 3 bits, set of RMPPFlag
    u8 RMPPStatus = 0; ///< an RMPPStatus code
    u32 data1 = 0;     ///< for DATA and ACK the segment number
    u32 data2 = 0;     ///< for DATA the payload length, for ACK NewWindowLast

    friend bool operator==(const Header&, const Header&) = default;
};

/// The RMPP header without the two words whose meaning depends on the type.
struct ShortHeader {
    iba::MADHeader header;
    u8 RMPPVersion = 0; ///< 1; 0: not an RMPP packet
    iba::RMPPType RMPPType{};
    u8 RRespTime = 0;  ///< 5 bits: 4.096 us * 2^n; 31: not specified
    u8 RMPPFlags = 0;  ///< 3 bits, set of RMPPFlag
    u8 RMPPStatus = 0; ///< an RMPPStatus code

    friend bool operator==(const ShortHeader&, const ShortHeader&) = default;
};

} // namespace rmpp

template <> struct described<rmpp::Header> : std::true_type {
    using T = rmpp::Header;
    // clang-format off
    static constexpr auto layout = describe<36>("RMPPHeader", "13.6.2.1",
        field<&T::header,      at{0},     192>{"MADHeader"},
        field<&T::RMPPVersion, at{24},      8>{"RMPPVersion"},
        field<&T::RMPPType,    at{25},      8>{"RMPPType"},
        field<&T::RRespTime,   at{26, 0},   5>{"RRespTime"},
        field<&T::RMPPFlags,   at{26, 5},   3>{"RMPPFlags"},
        field<&T::RMPPStatus,  at{27},      8>{"RMPPStatus"},
        field<&T::data1,       at{28},     32>{"data1"},
        field<&T::data2,       at{32},     32>{"data2"});
    // clang-format on
};

template <> struct described<rmpp::ShortHeader> : std::true_type {
    using T = rmpp::ShortHeader;
    // clang-format off
    static constexpr auto layout = describe<28>("RMPPShortHeader", "13.6.2.1",
        field<&T::header,      at{0},     192>{"MADHeader"},
        field<&T::RMPPVersion, at{24},      8>{"RMPPVersion"},
        field<&T::RMPPType,    at{25},      8>{"RMPPType"},
        field<&T::RRespTime,   at{26, 0},   5>{"RRespTime"},
        field<&T::RMPPFlags,   at{26, 5},   3>{"RMPPFlags"},
        field<&T::RMPPStatus,  at{27},      8>{"RMPPStatus"});
    // clang-format on
};

// ---- Packets --------------------------------------------------------------------------------------------------------

namespace rmpp {

/// DATA: one segment of a message.
struct Data {
    ShortHeader header;
    u32 segmentNumber = 0; ///< number of the segment, starting with 1
    u32 payLoadLength = 0; ///< bytes; in the first segment the length of all segments, in the last segment its own
                           ///< length
    std::array<u8, 220> data{};

    friend bool operator==(const Data&, const Data&) = default;
};

/// ACK: reports which segments arrived.
struct Ack {
    ShortHeader header;
    u32 segmentNumber = 0; ///< the last segment that arrived in order
    u32 newWindowLast = 0; ///< the last segment that may be sent
    std::array<u8, 220> reserved_288{};

    friend bool operator==(const Ack&, const Ack&) = default;
};

/// STOP: ends a transfer because resources are exhausted.
struct Stop {
    ShortHeader header;
    u32 reserved_224 = 0;
    u32 reserved_256 = 0;
    std::array<u8, 220> errorData{}; ///< reason, in a format that the class defines

    friend bool operator==(const Stop&, const Stop&) = default;
};

/// ABORT: ends a transfer because of an error of the peer.
struct Abort {
    ShortHeader header;
    u32 reserved_224 = 0;
    u32 reserved_256 = 0;
    std::array<u8, 220> errorData{}; ///< reason, in a format that the class defines

    friend bool operator==(const Abort&, const Abort&) = default;
};

} // namespace rmpp

template <> struct described<rmpp::Data> : std::true_type {
    using T = rmpp::Data;
    // clang-format off
    static constexpr auto layout = describe<256>("RMPPData", "13.6.2.3",
        field<&T::header,        at{0},   224>{"RMPPHeader"},
        field<&T::segmentNumber, at{28},   32>{"segmentNumber"},
        field<&T::payLoadLength, at{32},   32>{"payLoadLength"},
        field<&T::data,          at{36}, 1760>{"data", show::data});
    // clang-format on
};

template <> struct described<rmpp::Ack> : std::true_type {
    using T = rmpp::Ack;
    // clang-format off
    static constexpr auto layout = describe<256>("RMPPAck", "13.6.2.3",
        field<&T::header,          at{0},   224>{"RMPPHeader"},
        field<&T::segmentNumber,   at{28},   32>{"segmentNumber"},
        field<&T::newWindowLast,   at{32},   32>{"newWindowLast"},
        reserved<&T::reserved_288, at{36}, 1760>{});
    // clang-format on
};

template <> struct described<rmpp::Stop> : std::true_type {
    using T = rmpp::Stop;
    // clang-format off
    static constexpr auto layout = describe<256>("RMPPStop", "13.6.2.3",
        field<&T::header,          at{0},   224>{"RMPPHeader"},
        reserved<&T::reserved_224, at{28},   32>{},
        reserved<&T::reserved_256, at{32},   32>{},
        field<&T::errorData,       at{36}, 1760>{"errorData", show::data});
    // clang-format on
};

template <> struct described<rmpp::Abort> : std::true_type {
    using T = rmpp::Abort;
    // clang-format off
    static constexpr auto layout = describe<256>("RMPPAbort", "13.6.2.3",
        field<&T::header,          at{0},   224>{"RMPPHeader"},
        reserved<&T::reserved_224, at{28},   32>{},
        reserved<&T::reserved_256, at{32},   32>{},
        field<&T::errorData,       at{36}, 1760>{"errorData", show::data});
    // clang-format on
};

} // namespace comad::iba
