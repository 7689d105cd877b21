// SPDX-License-Identifier: MIT
// packet.hpp - a MAD in the InfiniBand packet that carries it: headers in front, checksums behind. For captures and for
// reading them; what is sent gets its headers from the device. Knows no file format.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace comad::iba {
struct record_info;
}

namespace comad::mad {

/// What the headers of a MAD's packet say (IBA 5.2, 9.2, 9.3.1). Host order.
struct packet_address {
    iba::lid SLID{};
    iba::lid DLID{};
    u8 SL = 0;
    u16 PKey = 0xffff;
    u32 sqpn = 0;
    u32 dqpn = 0;
    u32 QKey = 0;
};

/// The packet of a request to `path`, as far as it is known before a device made one: the source LID is the path's, 0 if
/// the device fills it in, the P_Key that of the path, which port_tables::put_into() makes that of the index.
packet_address request_address(const any_path& path, u8 mgmt_class) noexcept;
/// The packet of what arrived, at a port whose LID is not known here: 0, or permissive if the source was.
packet_address reply_address(const source_address& source, u8 mgmt_class) noexcept;

/// Local route, base transport and datagram headers, the MAD, invariant and variant CRC.
inline constexpr std::size_t packet_size = 8 + 12 + 8 + mad_size + 4 + 2;
/// `PSN`: 24 bits. SMPs travel on VL 15, others on VL 0.
std::array<u8, packet_size> make_packet(const packet_address&, u32 PSN, std::span<const u8, mad_size> mad) noexcept;

/// A structure that a packet begins with.
struct packet_header {
    const iba::record_info* table;
    std::size_t begin; ///< bytes from the packet's first
};
/// A packet taken apart.
struct packet_parts {
    std::vector<packet_header> headers; ///< in order
    std::span<const u8> payload;        ///< what follows them, without checksums
    bool is_datagram = false;           ///< the payload is that of an unreliable datagram, as MADs are
};

/// The header that comes first.
enum class packet_start : u8 { LRH, GRH, BTH };

/// Follows the headers as far as they say what comes next (IBA 5.2, 7.7.5, 9.2.1). Bytes come from anywhere: none if they
/// are too short for the headers that they announce. `has_crcs`: the last 4 or 6 bytes are checksums, which of a packet
/// with LRH its packetLength tells.
std::optional<packet_parts> parse_packet(std::span<const u8> packet, packet_start from) noexcept;

/// Of a packet from its LRH to its payload: over what no switch or router changes (IBA 7.8.1). As a number whose bytes
/// follow in the packet with the lowest first.
u32 invariant_crc(std::span<const u8> packet) noexcept;
/// Of a packet from its LRH to its invariant CRC (IBA 7.8.2); lowest byte first in the packet.
u16 variant_crc(std::span<const u8> packet) noexcept;

} // namespace comad::mad
