// SPDX-License-Identifier: MIT
// rmpp_rig.hpp - helpers for the RMPP tests: MADs written byte by byte at the IBA's offsets, independent of the tables
// of the library.
#pragma once
#include "support/catch.hpp"
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/rmpp.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

namespace comad::test {

using namespace std::chrono_literals;
using iba::RMPPStatus;
using mad::duration;
using mad::rmpp_receiver;
using mad::rmpp_receiver_options;
using mad::rmpp_sender;
using mad::rmpp_sender_options;
using mad::rmpp_state;
using mad::time_point;

using mad_bytes = std::array<u8, 256>;

/// Sizes of headers: MAD 24, RMPP 12 and SA 20 bytes (IBA 15.2.1); OUI header of vendor classes 4 bytes (IBA 16.5).
constexpr std::size_t sa_header = 56, vendor_header = 40;
constexpr u8 data_type = 1, ack_type = 2, stop_type = 3, abort_type = 4;
constexpr u8 active = 1, first = 2, last = 4;
constexpr u8 not_reported = 31; // RRespTime: no value

/// Returns the time at this duration since the epoch.
constexpr time_point at(duration since_epoch) { return time_point{since_epoch}; }

/// Writes a number in network byte order.
inline void put_u32(u8* p, u32 value) {
    for (int i = 0; i < 4; ++i) p[i] = static_cast<u8>(value >> (24 - 8 * i));
}
/// Reads a number in network byte order.
inline u32 get_u32(const u8* p) { return u32{p[0]} << 24 | u32{p[1]} << 16 | u32{p[2]} << 8 | p[3]; }

/// Fields of the RMPP header.
struct rmpp_words {
    u8 type = data_type;
    u8 flags = 0; // flags except Active
    u8 status = 0;
    u32 data1 = 0, data2 = 0;

    friend bool operator==(const rmpp_words&, const rmpp_words&) = default;
};
/// Prints the fields of an RMPP header in a failure message.
inline std::ostream& operator<<(std::ostream& out, const rmpp_words& w) {
    return out << "type " << +w.type << " flags " << +w.flags << " status " << +w.status << " words " << w.data1 << ' '
               << w.data2;
}
/// Returns the fields of the RMPP header of a MAD.
inline rmpp_words words_of(const mad_bytes& mad) {
    CHECK(mad[24] == 1);
    CHECK((mad[26] & active) != 0);
    return {mad[25], static_cast<u8>(mad[26] & 6), mad[27], get_u32(&mad[28]), get_u32(&mad[32])};
}

/// Returns an SA MAD with NodeRecords (0x11). Distinct bytes in the class-specific header reveal wrong offsets.
inline mad_bytes sa_mad(u8 method, rmpp_words words) {
    mad_bytes mad{1, 3, 2, method, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78, 0, 0x11};
    mad[24] = 1;
    mad[25] = words.type;
    mad[26] = static_cast<u8>(not_reported << 3 | words.flags | active);
    mad[27] = words.status;
    put_u32(&mad[28], words.data1);
    put_u32(&mad[32], words.data2);
    for (u8 i = 36; i < 56; ++i) mad[i] = i;
    return mad;
}
/// Returns the test value of a data byte at a position of a message.
inline u8 data_byte(std::size_t position) { return static_cast<u8>(position * 7 + position / 256); }
/// Returns a segment of a GetTableResp.
inline mad_bytes segment(u32 number, u8 flags, u32 payload_length) {
    mad_bytes mad = sa_mad(0x92, {data_type, flags, 0, number, payload_length});
    for (std::size_t i = 56; i < 256; ++i) mad[i] = data_byte((number - 1) * 200 + i - 56);
    return mad;
}
/// Return a packet of the peer for the receiver or for the sender of a GetTableResp.
inline mad_bytes to_receiver(rmpp_words words) { return sa_mad(0x92, words); }
inline mad_bytes to_sender(rmpp_words words) { return sa_mad(0x12, words); }

/// Returns a received message: its header and `data` bytes of test values.
inline std::vector<u8> message_of(std::size_t data, std::size_t header = sa_header) {
    const mad_bytes begin = sa_mad(0x92, {});
    std::vector<u8> message(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(header));
    for (std::size_t i = 0; i < data; ++i) message.push_back(data_byte(i));
    return message;
}

/// Returns the next packet of a receiver; empty if it has none.
inline std::optional<mad_bytes> next_of(rmpp_receiver& r, time_point) {
    mad_bytes out;
    out.fill(0xee); // so that the test detects bytes that are not written
    const bool was_announced = r.has_packet();
    const bool is_there = r.next_packet(out);
    CHECK(is_there == was_announced);
    return is_there ? std::optional(out) : std::nullopt;
}
/// Returns the next packet of a sender; empty if it has none.
inline std::optional<mad_bytes> next_of(rmpp_sender& s, time_point now) {
    mad_bytes out;
    out.fill(0xee);
    const bool was_announced = s.has_packet();
    const bool is_there = s.next_packet(out, now);
    CHECK(is_there == was_announced);
    return is_there ? std::optional(out) : std::nullopt;
}
/// Returns the RMPP headers of all packets that an end sends now.
template <class End> std::vector<rmpp_words> all_of(End& end, time_point now = {}) {
    std::vector<rmpp_words> all;
    while (const auto mad = next_of(end, now)) all.push_back(words_of(*mad));
    return all;
}

using words_list = std::vector<rmpp_words>;
/// Returns an ACK of segment `number` with a new end of the window.
inline rmpp_words ack(u32 number, u32 window_last) { return {ack_type, 0, 0, number, window_last}; }
/// Returns a packet that ends a transfer: STOP for exhausted resources, ABORT for every other reason (IBA 13.6.2.2).
inline rmpp_words ending(RMPPStatus why) {
    return {why == RMPPStatus::ResourcesExhausted ? stop_type : abort_type, 0, static_cast<u8>(why), 0, 0};
}
/// All status codes that end a transfer.
inline const std::vector<RMPPStatus> ending_statuses{
    RMPPStatus::ResourcesExhausted,
    RMPPStatus::TotalTimeTooLong,
    RMPPStatus::InconsistentLastAndPayloadLength,
    RMPPStatus::InconsistentFirstAndSegmentNumber,
    RMPPStatus::BadRMPPType,
    RMPPStatus::NewWindowLastTooSmall,
    RMPPStatus::SegmentNumberTooBig,
    RMPPStatus::IllegalStatus,
    RMPPStatus::UnsupportedVersion,
    RMPPStatus::TooManyRetries,
    RMPPStatus::Unspecified,
};

} // namespace comad::test
