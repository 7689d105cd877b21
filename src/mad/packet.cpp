// SPDX-License-Identifier: MIT
// packet.cpp - builds and parses the headers and checksums of packets that carry MADs.
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/transport_headers.hpp>
#include <comad/mad/detail/packet.hpp>

#include <boost/crc.hpp>

#include <algorithm>

namespace comad::mad {
namespace {

namespace hdr = iba::hdr;

constexpr u8 lnh_bth = 2; // next header in the LRH, IBA 7.7.5
constexpr u8 lnh_grh = 3;
constexpr u8 next_header_bth = 0x1b; // IBA 8.3
constexpr u8 service_ud = 3;         // IBA 9.2.1, table of opcodes: the upper three bits
constexpr u8 send_only = 4;
constexpr u8 send_only_immediate = 5;
constexpr u32 well_known_qkey = 0x80010000; // IBA 3.5.3

template <class Header> u8* put(u8* at, const Header& header) noexcept {
    iba::encode(header, at);
    return at + iba::wire_size<Header>;
}

/// Reads headers from the start of a packet.
class reader {
public:
    explicit reader(std::span<const u8> packet) : packet_(packet) {}

    /// Reads a header; returns false if the packet has too few bytes left.
    template <class Header> bool take(Header& header) {
        if (packet_.size() - begin_ < iba::wire_size<Header>) return false;
        iba::decode(header, packet_.data() + begin_);
        parts_.headers.push_back({&iba::info_of<Header>, begin_});
        begin_ += iba::wire_size<Header>;
        return true;
    }
    /// Removes the checksums, which start at byte `end`.
    void cut(std::size_t end) { packet_ = packet_.first(std::clamp(end, begin_, packet_.size())); }
    packet_parts finish(bool is_datagram) {
        parts_.payload = packet_.subspan(begin_);
        parts_.is_datagram = is_datagram;
        return std::move(parts_);
    }

private:
    std::span<const u8> packet_;
    std::size_t begin_ = 0;
    packet_parts parts_;
};

} // namespace

packet_address request_address(const any_path& path, u8 mgmt_class) noexcept {
    const path_headers& p = headers_of(path);
    if (iba::is_smp(iba::MgmtClass{mgmt_class})) return {p.SLID, p.DLID, p.SL, 0xffff, 0, 0, 0};
    return {p.SLID, p.DLID, p.SL, p.pkey, 1, p.dqpn, p.qkey};
}

packet_address reply_address(const source_address& source, u8 mgmt_class) noexcept {
    const iba::lid here = source.SLID == iba::permissive_lid ? iba::permissive_lid : iba::lid{};
    if (iba::is_smp(iba::MgmtClass{mgmt_class})) return {source.SLID, here, source.SL, 0xffff, 0, 0, 0};
    return {source.SLID, here, source.SL, source.pkey, source.sqpn, 1, well_known_qkey};
}

std::array<u8, packet_size> make_packet(const packet_address& a, u32 PSN, std::span<const u8, mad_size> mad) noexcept {
    hdr::LRH lrh;
    lrh.VL = iba::is_smp(iba::MgmtClass{mad[1]}) ? 15 : 0;
    lrh.SL = a.SL;
    lrh.LNH = lnh_bth;
    lrh.DLID = a.DLID;
    lrh.SLID = a.SLID;
    lrh.pktLen = (packet_size - 2) / 4; // number of words, without the variant CRC
    hdr::BTH bth;
    bth.service = service_ud;
    bth.function = send_only;
    bth.PKey = a.PKey;
    bth.destQP = a.dqpn;
    bth.PSN = PSN;
    hdr::DETH deth;
    deth.QKey = a.QKey;
    deth.srcQP = a.sqpn;

    std::array<u8, packet_size> packet;
    u8* at = put(put(put(packet.data(), lrh), bth), deth);
    at = std::copy(mad.begin(), mad.end(), at);
    const auto done = [&] { return std::span<const u8>(packet.data(), at); };
    for (u32 crc = invariant_crc(done()), i = 0; i < 4; ++i, crc >>= 8) at[i] = static_cast<u8>(crc);
    at += 4;
    for (u32 crc = variant_crc(done()), i = 0; i < 2; ++i, crc >>= 8) at[i] = static_cast<u8>(crc);
    return packet;
}

std::optional<packet_parts> parse_packet(std::span<const u8> packet, packet_start from) noexcept {
    reader in(packet);
    bool has_grh = from == packet_start::GRH;
    if (from == packet_start::LRH) {
        hdr::LRH lrh;
        if (!in.take(lrh)) return std::nullopt;
        if (lrh.LNH != lnh_bth && lrh.LNH != lnh_grh)
            return in.finish(false); // raw packets have no further IBA headers
        has_grh = lrh.LNH == lnh_grh;
        if (lrh.pktLen > 0) in.cut(lrh.pktLen * 4u - 4u); // the last word is the invariant CRC
    }
    if (has_grh) {
        hdr::GRH grh;
        if (!in.take(grh)) return std::nullopt;
        if (grh.nxtHdr != next_header_bth) return in.finish(false);
    }
    hdr::BTH bth;
    if (!in.take(bth)) return std::nullopt;
    if (bth.service != service_ud) return in.finish(false);
    hdr::DETH deth;
    if (!in.take(deth)) return std::nullopt;
    if (hdr::ImmDt immediate; bth.function == send_only_immediate && !in.take(immediate)) return std::nullopt;
    return in.finish(true);
}

u32 invariant_crc(std::span<const u8> packet) noexcept {
    // Fields that switches and routers may change count as ones (IBA 7.8.1): the VL of a local packet; with a GRH the
    // whole LRH and the traffic class, flow label and hop limit of the GRH; the reserved byte of the BTH.
    boost::crc_32_type crc;
    const bool has_grh = packet.size() > 1 && (packet[1] & 3) == lnh_grh;
    const std::size_t bth = has_grh ? 8 + 40 : 8;
    for (std::size_t i = 0; i < packet.size(); ++i) {
        u8 byte = packet[i];
        if (has_grh ? i < 8 || (i >= 9 && i <= 11) || i == 15 : false) byte = 0xff;
        else if (has_grh && i == 8) byte |= 0x0f;
        else if (!has_grh && i == 0) byte |= 0xf0;
        if (i == bth + 4) byte = 0xff;
        crc.process_byte(byte);
    }
    return crc.checksum();
}

u16 variant_crc(std::span<const u8> packet) noexcept {
    boost::crc_optimal<16, 0x100b, 0xffff, 0xffff, true, true> crc;
    crc.process_bytes(packet.data(), packet.size());
    return static_cast<u16>(crc.checksum());
}

} // namespace comad::mad
