// SPDX-License-Identifier: MIT
// roce_frame.cpp - parses the headers in front of a RoCE packet.
#include "input/roce_frame.hpp"

#include "comad.hpp"
#include <comad/iba/detail/bits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <optional>

namespace ibtool {
namespace {

using frame_bytes = std::span<const comad::u8>;

constexpr u16 roce_ethertype = 0x8915, ipv4_ethertype = 0x0800, ipv6_ethertype = 0x86dd;
constexpr u16 roce_port = 4791; // IANA
constexpr std::size_t global_header = 40, crc_size = 4;

u16 word_at(frame_bytes b, std::size_t at) { return comad::iba::load_be<u16>(&b[at]); }

/// Removes `size` bytes; returns false if there are fewer.
bool skip_front(frame_bytes& b, std::size_t size) {
    if (b.size() < size) return false;
    b = b.subspan(size);
    return true;
}

bool is_tag(u16 ethertype) { return ethertype == 0x8100 || ethertype == 0x88a8 || ethertype == 0x9100; }

/// Returns the EtherType after any VLAN tags, and removes all of them.
std::optional<u16> take_ethertype(frame_bytes& b) {
    while (b.size() >= 2) {
        const u16 type = word_at(b, 0);
        if (!is_tag(type)) return skip_front(b, 2) ? std::optional(type) : std::nullopt;
        if (!skip_front(b, 4)) break;
    }
    return std::nullopt;
}

std::optional<u16> take_link_header(frame_bytes& b, frame_start from) {
    switch (from) {
    case frame_start::ethernet: return skip_front(b, 12) ? take_ethertype(b) : std::nullopt;
    case frame_start::cooked: return skip_front(b, 14) ? take_ethertype(b) : std::nullopt;
    case frame_start::cooked2: { // the EtherType comes first; a tag then follows the header
        if (b.size() < 20) return std::nullopt;
        const u16 type = word_at(b, 0);
        skip_front(b, 20);
        if (!is_tag(type)) return type;
        return skip_front(b, 2) ? take_ethertype(b) : std::nullopt;
    }
    case frame_start::ip:
        if (b.empty()) return std::nullopt;
        return b[0] >> 4 == 6 ? ipv6_ethertype : ipv4_ethertype;
    }
    return std::nullopt;
}

/// The payload of an IP packet, with the addresses of the packet as text.
struct ip_payload {
    u8 protocol = 0;
    frame_bytes rest;
    std::string where;
};

std::string addresses(int family, const u8* source, const u8* destination) {
    char from[INET6_ADDRSTRLEN] = {}, to[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(family, source, from, sizeof from);
    ::inet_ntop(family, destination, to, sizeof to);
    return fmt::format("RoCEv2 from {} to {}", from, to);
}

std::optional<ip_payload> in_ipv4(frame_bytes b) {
    constexpr std::size_t least = 20;
    if (b.size() < least || b[0] >> 4 != 4) return std::nullopt;
    const std::size_t header = (b[0] & 0xfu) * 4u;
    constexpr u16 more_or_offset = 0x3fff;
    if (header < least || header > b.size() || (word_at(b, 6) & more_or_offset) != 0) return std::nullopt;
    return ip_payload{b[9], b.subspan(header), addresses(AF_INET, &b[12], &b[16])};
}

std::optional<ip_payload> in_ipv6(frame_bytes b) {
    constexpr std::size_t header = 40;
    if (b.size() < header || b[0] >> 4 != 6) return std::nullopt;
    ip_payload found{b[6], b.subspan(header), addresses(AF_INET6, &b[8], &b[24])};
    constexpr u8 hop_by_hop = 0, routing = 43, options = 60; // length in the second byte (RFC 8200, 4)
    while (found.protocol == hop_by_hop || found.protocol == routing || found.protocol == options) {
        if (found.rest.size() < 8) return std::nullopt;
        const std::size_t size = (found.rest[1] + 1u) * 8u;
        found.protocol = found.rest[0];
        if (!skip_front(found.rest, size)) return std::nullopt;
    }
    return found;
}

/// Removes what follows the packet: the padding of the frame, and the invariant CRC if it was captured.
frame_bytes without_crc(frame_bytes b, std::size_t announced) {
    return b.first(std::min(b.size(), announced < crc_size ? 0 : announced - crc_size));
}

} // namespace

framed_packet packet_in_frame(frame_bytes frame, frame_start from) {
    const std::optional<u16> ethertype = take_link_header(frame, from);
    if (!ethertype) return {};
    if (*ethertype == roce_ethertype) {
        if (frame.size() < global_header) return {};
        return {without_crc(frame, global_header + word_at(frame, 4)), comad::mad::packet_start::GRH, "RoCEv1"};
    }
    const std::optional<ip_payload> ip = *ethertype == ipv4_ethertype   ? in_ipv4(frame)
                                         : *ethertype == ipv6_ethertype ? in_ipv6(frame)
                                                                        : std::nullopt;
    constexpr u8 udp = 17;
    constexpr std::size_t udp_header = 8;
    if (!ip || ip->protocol != udp || ip->rest.size() < udp_header || word_at(ip->rest, 2) != roce_port) return {};
    const std::size_t length = word_at(ip->rest, 4);
    if (length < udp_header) return {};
    return {without_crc(ip->rest.subspan(udp_header), length - udp_header), comad::mad::packet_start::BTH, ip->where};
}

} // namespace ibtool
