// SPDX-License-Identifier: MIT
// packet_test.cpp - packets of MADs: the checksums of the IBA's sample packet, headers written and read, and random
// bytes.
#include "library/iba_data.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/transport_headers.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/packet.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

namespace packet_test {

using namespace comad;
using namespace comad::mad;
namespace hdr = comad::iba::hdr;

namespace {

// The local packet with which the IBA explains checksums (chapter 7, sample packets): an RDMA write of 14 bytes.
const char* const sample = "7012375c000e17d2"                  // LRH
                           "0a2024870087b1b3000dec2a"          // BTH
                           "01710a1c015d400238f27a050000000e"  // RETH
                           "bb884d85fd5cfba4728bc0690ed40000"; // payload and padding
const std::array<u8, 4> sample_invariant_crc{0x96, 0x25, 0xb7, 0x5a};

/// Processes one bit after the other, as in the figure of the IBA (7.8.2): x^16 + x^12 + x^3 + x + 1, initialized with
/// ones, complemented.
u16 bitwise_variant_crc(std::span<const u8> bytes) {
    u16 crc = 0xffff;
    for (u8 byte : bytes) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            const bool feedback = ((crc ^ (byte >> bit)) & 1) != 0;
            crc = static_cast<u16>(crc >> 1);
            if (feedback) crc ^= 0xd008; // the polynomial, lowest power first
        }
    }
    return static_cast<u16>(~crc);
}

std::array<u8, mad_size> random_mad(u64 seed, u8 mgmt_class) {
    std::mt19937_64 random(seed);
    std::array<u8, mad_size> mad;
    for (u8& byte : mad) byte = static_cast<u8>(random());
    mad[0] = 1;
    mad[1] = mgmt_class;
    return mad;
}

} // namespace

TEST_CASE("the invariant CRC of the sample packet in the IBA matches the printed value") {
    const std::vector<u8> packet = from_hex(sample);
    const u32 crc = invariant_crc(packet);
    for (unsigned i = 0; i < 4; ++i) CHECK(static_cast<u8>(crc >> 8 * i) == sample_invariant_crc[i]);
}

TEST_CASE("the invariant CRC excludes the fields that switches and routers change") {
    const std::vector<u8> local = from_hex(sample);
    std::vector<u8> changed = local;
    changed[0] ^= 0xf0;  // VL
    changed[12] ^= 0xff; // BTH: the reserved byte
    CHECK(invariant_crc(changed) == invariant_crc(local));
    changed[3] ^= 1; // DLID
    CHECK(invariant_crc(changed) != invariant_crc(local));

    std::vector<u8> global(8 + 40 + 12 + 4);
    global[1] = 3; // LNH: a GRH follows
    std::vector<u8> routed = global;
    for (unsigned i : {0u, 2u, 3u, 6u, 7u}) routed[i] ^= 0xff; // VL, LIDs
    routed[8] ^= 0x0f;                                         // traffic class
    for (unsigned i : {9u, 10u, 11u, 15u}) routed[i] ^= 0xff;  // traffic class, flow label, hop limit
    routed[48 + 4] ^= 0xff;
    CHECK(invariant_crc(routed) == invariant_crc(global));
    routed[16] ^= 1; // SGID
    CHECK(invariant_crc(routed) != invariant_crc(global));
}

TEST_CASE("the variant CRC matches a bitwise calculation") {
    std::mt19937_64 random(1);
    for (std::size_t size : {0u, 1u, 2u, 56u, 288u}) {
        std::vector<u8> bytes(size);
        for (u8& byte : bytes) byte = static_cast<u8>(random());
        CHECK(variant_crc(bytes) == bitwise_variant_crc(bytes));
    }
}

TEST_CASE("a packet consists of the headers of its address, the MAD and both checksums") {
    const auto mad = random_mad(1, 0x04);
    const packet_address address{iba::lid{7}, iba::lid{0x1234}, 3, 0x8001, 0x123456, 0xabcdef, 0x80010000};
    const auto packet = make_packet(address, 0x654321, mad);
    CHECK(iba::load_be<u16>(packet.data() + 2) == 0x1234);            // DLID
    CHECK((iba::load_be<u16>(packet.data() + 4) & 0x7ff) == 288 / 4); // length in words before the variant CRC
    CHECK(iba::load_be<u16>(packet.data() + 6) == 7);                 // SLID
    CHECK(packet[0] == 0x00);                                         // VL 0
    CHECK(packet[1] == 0x32);                                         // SL 3, BTH follows
    CHECK(packet[8] == 0x64);                                         // UD SEND Only
    CHECK(iba::load_be<u16>(packet.data() + 10) == 0x8001);           // P_Key
    CHECK(iba::load_be<u32>(packet.data() + 12) == 0xabcdef);         // destination QP
    CHECK(iba::load_be<u32>(packet.data() + 16) == 0x654321);         // PSN
    CHECK(iba::load_be<u32>(packet.data() + 20) == 0x80010000);       // Q_Key
    CHECK(iba::load_be<u32>(packet.data() + 24) == 0x123456);         // source QP
    CHECK(std::equal(mad.begin(), mad.end(), packet.begin() + 28));
    const std::span<const u8> all(packet);
    CHECK(invariant_crc(all.first(284)) ==
          (u32{packet[287]} << 24 | u32{packet[286]} << 16 | u32{packet[285]} << 8 | packet[284]));
    CHECK(variant_crc(all.first(288)) == (packet[289] << 8 | packet[288]));

    CHECK(make_packet(address, 0, random_mad(2, 0x81))[0] >> 4 == 15); // SMPs: VL 15
}

TEST_CASE("parsing a generated packet returns its headers and its MAD") {
    const auto mad = random_mad(3, 0x03);
    const auto packet = make_packet({}, 0, mad);
    const auto parts = parse_packet(packet, packet_start::LRH);
    REQUIRE(parts);
    REQUIRE(parts->headers.size() == 3);
    CHECK(parts->headers[0].table == &iba::info_of<hdr::LRH>);
    CHECK(parts->headers[1].table == &iba::info_of<hdr::BTH>);
    CHECK(parts->headers[2].table == &iba::info_of<hdr::DETH>);
    CHECK(parts->headers[2].begin == 20);
    CHECK(parts->is_datagram);
    CHECK(std::equal(parts->payload.begin(), parts->payload.end(), mad.begin(), mad.end()));
}

TEST_CASE("the parser follows global headers, immediate data and other services as far as possible") {
    std::vector<u8> packet(40 + 12 + 8 + 4 + 256);
    packet[0] = 0x60;  // GRH: IP version 6
    packet[6] = 0x1b;  // BTH follows
    packet[40] = 0x65; // UD SEND Only with immediate
    auto parts = parse_packet(packet, packet_start::GRH);
    REQUIRE(parts);
    REQUIRE(parts->headers.size() == 4);
    CHECK(parts->headers[3].table == &iba::info_of<hdr::ImmDt>);
    CHECK(parts->payload.size() == 256);

    packet[40] = 0x0a; // RC RDMA WRITE Only: not a datagram
    parts = parse_packet(packet, packet_start::GRH);
    REQUIRE(parts);
    CHECK(parts->headers.size() == 2);
    CHECK_FALSE(parts->is_datagram);

    packet[6] = 0x11; // UDP
    parts = parse_packet(packet, packet_start::GRH);
    REQUIRE(parts);
    CHECK(parts->headers.size() == 1);

    std::vector<u8> raw(40);
    raw[1] = 0; // LNH: raw Ethertype
    parts = parse_packet(raw, packet_start::LRH);
    REQUIRE(parts);
    CHECK(parts->headers.size() == 1);
    CHECK_FALSE(parts->is_datagram);
}

TEST_CASE("the parser never reads beyond random bytes of any length") {
    std::mt19937_64 random(4);
    unsigned whole = 0;
    for (int round = 0; round < 20000; ++round) {
        // The exact size lets AddressSanitizer detect a read beyond the end.
        std::vector<u8> bytes(random() % 100);
        for (u8& byte : bytes) byte = static_cast<u8>(random());
        const auto from = std::array{packet_start::LRH, packet_start::GRH, packet_start::BTH}[random() % 3];
        const auto parts = parse_packet(bytes, from);
        if (!parts) continue;
        ++whole;
        std::size_t end = 0;
        for (const packet_header& header : parts->headers) {
            CHECK(header.begin == end);
            end = header.begin + header.table->bytes;
        }
        CHECK(end + parts->payload.size() <= bytes.size());
    }
    CHECK(whole > 1000);
    const auto packet = make_packet({}, 0, random_mad(5, 1));
    for (std::size_t size = 0; size < 28; ++size)
        CHECK_FALSE(parse_packet(std::span(packet).first(size), packet_start::LRH));
}

TEST_CASE("a request goes to QP0, or to QP1 with the well-known Q_Key, as its path specifies") {
    IBPath path;
    path.DLID = iba::lid{5};
    path.SLID = iba::lid{6};
    path.SL = 2;
    path.dqpn = 9;
    path.qkey = 0x1234;
    const packet_address gmp = request_address(any_path(path), 0x04);
    CHECK(gmp.DLID == iba::lid{5});
    CHECK(gmp.SLID == iba::lid{6});
    CHECK(gmp.SL == 2);
    CHECK(gmp.sqpn == 1);
    CHECK(gmp.dqpn == 9);
    CHECK(gmp.QKey == 0x1234);
    const packet_address smp = request_address(any_path(path), 0x01);
    CHECK(smp.sqpn == 0);
    CHECK(smp.dqpn == 0);
    CHECK(smp.QKey == 0);
    const packet_address directed_smp = request_address(any_path(IBDRPath()), 0x81);
    CHECK(directed_smp.DLID == iba::permissive_lid);
    CHECK(directed_smp.SLID == iba::permissive_lid);
    mad::source_address source;
    source.SLID = iba::lid{5};
    source.SL = 2;
    source.sqpn = 7;
    const packet_address reply = reply_address(source, 0x04);
    CHECK(reply.SLID == iba::lid{5});
    CHECK(reply.sqpn == 7);
    CHECK(reply.dqpn == 1);
    source.SLID = iba::permissive_lid;
    CHECK(reply_address(source, 0x81).DLID == iba::permissive_lid);
}

} // namespace packet_test
