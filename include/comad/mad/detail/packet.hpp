// SPDX-License-Identifier: MIT
// packet.hpp - builds and parses the InfiniBand packet that carries a MAD: headers, MAD and checksums. For captures:
// the device adds the headers of MADs that are sent. It does not depend on file formats.
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

/// The addresses in the headers of a packet with a MAD (IBA 5.2, 9.2, 9.3.1). Host order.
struct packet_address {
    iba::lid SLID{};
    iba::lid DLID{};
    u8 SL = 0;
    u16 PKey = 0xffff;
    u32 sqpn = 0;
    u32 dqpn = 0;
    u32 QKey = 0;
};

/// Returns the addresses of a request to `path`, as far as they are known before the device builds the packet. The
/// source LID comes from the path, 0 if the device fills it in. The P_Key comes from the path; port_tables::put_into()
/// sets it from the index.
packet_address request_address(const any_path& path, u8 mgmt_class) noexcept;
/// Returns the addresses of a received MAD. The LID of the local port is not known: 0, or permissive if the source LID
/// was permissive.
packet_address reply_address(const source_address& source, u8 mgmt_class) noexcept;

/// Bytes of local route, base transport and datagram headers, the MAD, invariant and variant CRC.
inline constexpr std::size_t packet_size = 8 + 12 + 8 + mad_size + 4 + 2;
/// Builds the packet of a MAD. `PSN`: 24 bits. SMPs use VL 15, other MADs VL 0.
std::array<u8, packet_size> make_packet(const packet_address&, u32 PSN, std::span<const u8, mad_size> mad) noexcept;

/// One header of a packet.
struct packet_header {
    const iba::record_info* table;
    std::size_t begin; ///< offset in the packet, in bytes
};
/// A parsed packet.
struct packet_parts {
    std::vector<packet_header> headers; ///< in order
    std::span<const u8> payload;        ///< bytes after the headers, without checksums
    bool is_datagram = false;           ///< the payload belongs to an unreliable datagram, as MADs do
};

/// The first header of a packet.
enum class packet_start : u8 { LRH, GRH, BTH };

/// Parses the headers as far as each one identifies the next one (IBA 5.2, 7.7.5, 9.2.1). The bytes are not trusted:
/// nullopt if they are shorter than the headers that they announce. A packet that starts with an LRH ends with checksums, whose position
/// follows from pktLen; other packets must not contain checksums.
std::optional<packet_parts> parse_packet(std::span<const u8> packet, packet_start from) noexcept;

/// Returns the CRC of the bytes that switches and routers do not change (IBA 7.8.1). `packet`: from the LRH to the end
/// of the payload. The packet contains the CRC with the lowest byte first.
u32 invariant_crc(std::span<const u8> packet) noexcept;
/// Returns the CRC of a packet from its LRH to its invariant CRC (IBA 7.8.2). The packet contains it with the lowest
/// byte first.
u16 variant_crc(std::span<const u8> packet) noexcept;

} // namespace comad::mad
