// SPDX-License-Identifier: MIT
// dissect_message.cpp - finds the structures in the bytes of a message.
#include "input/dissect_message.hpp"

#include "comad.hpp"
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/json.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/mad_tables.hpp>
#include <comad/iba/detail/registry.hpp>
#include <comad/iba/detail/transport_headers.hpp>
#include <comad/iba/print.hpp>
#include <comad/mad/detail/packet.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <endian.h>
#include <rdma/ib_user_mad.h>
#include <stdexcept>

namespace ibtool {
namespace {

using iba::record_info;

constexpr std::size_t grh_size = iba::wire_size<iba::hdr::GRH>;

bool looks_like_mad(std::span<const u8> b) {
    return b.size() >= iba::wire_size<iba::MADHeader> && b[0] == 1 && iba::find_format(iba::MgmtClass{b[1]}, b[2]);
}

bool looks_like_packet(std::span<const u8> b) {
    if (b.size() < iba::wire_size<iba::hdr::LRH>) return false;
    const auto lrh = iba::decode<iba::hdr::LRH>(b.first<iba::wire_size<iba::hdr::LRH>>());
    const std::size_t size = lrh.pktLen * 4u; // size up to the invariant CRC
    return lrh.LVer == 0 && lrh.LNH >= 2 && (b.size() == size - 4 || b.size() == size || b.size() == size + 2);
}

message_kind guess(const message& m) {
    const std::span<const u8> b = m.bytes;
    if (m.starts_with) {
        switch (*m.starts_with) {
        case mad::packet_start::LRH: return message_kind::packet;
        case mad::packet_start::GRH: return message_kind::grh;
        case mad::packet_start::BTH: return message_kind::bth;
        }
    }
    if (b.size() > mad::headroom && !looks_like_mad(b) && looks_like_mad(b.subspan(mad::headroom)))
        return message_kind::umad;
    if (looks_like_mad(b)) return message_kind::mad;
    if (looks_like_packet(b)) return message_kind::packet;
    if (b.size() > grh_size && b[0] >> 4 == 6) return message_kind::grh;
    if (b.size() > 20 && b[0] >> 5 == 3) return message_kind::bth; // an unreliable datagram
    return message_kind::mad;
}

std::string format_umad(std::span<const u8> b) {
    ib_user_mad_hdr h;
    std::memcpy(&h, b.data(), sizeof h);
    return fmt::format(
        "id={},status={},timeout_ms={},retries={},length={},qpn={},qkey={:#010x},lid={},sl={},path_bits={},"
        "grh_present={},pkey_index={}",
        h.id, h.status, h.timeout_ms, h.retries, h.length, be32toh(h.qpn), be32toh(h.qkey), be16toh(h.lid), h.sl,
        h.path_bits, h.grh_present, h.pkey_index);
}

/// Returns whether a datagram is a MAD. Datagrams to queue pairs 0 and 1 are MADs. A MAD to another queue pair (a redirected class) is
/// recognized by its size and class.
bool is_mad(std::span<const u8> payload, comad::u32 queue_pair) {
    return queue_pair <= 1 || (payload.size() == mad::mad_size && looks_like_mad(payload));
}

/// Returns the name of a datagram that is not a MAD. IPoIB starts with an EtherType and two zero bytes (RFC 4391, 6).
std::string datagram_name(std::span<const u8> payload, comad::u32 queue_pair) {
    struct protocol {
        u16 type;
        std::string_view name;
    };
    static constexpr protocol protocols[] = {{0x0800, "IPv4"}, {0x86dd, "IPv6"}, {0x0806, "ARP"}, {0x8035, "RARP"}};
    std::string_view name;
    if (payload.size() >= 4 && payload[2] == 0 && payload[3] == 0)
        for (const protocol& p : protocols)
            if (iba::load_be<u16>(payload.data()) == p.type) name = p.name;
    return fmt::format("{}{} to queue pair {:#x}", name.empty() ? "datagram" : name,
                       name.empty() ? "" : " over InfiniBand", queue_pair);
}

void take_headers(dissection& d, std::span<const u8> b, mad::packet_start from) {
    const auto parts = mad::parse_packet(b, from);
    if (!parts)
        throw std::runtime_error(
            fmt::format("the packet is truncated: {} bytes do not hold all of its headers", b.size()));
    for (const auto& header : parts->headers) d.headers.push_back({header.table, header.begin});
    if (!parts->is_datagram) return;
    d.mad = parts->payload;
    for (const auto& header : parts->headers) {
        if (header.table != &iba::info_of<iba::hdr::BTH>) continue;
        const auto bth = iba::decode<iba::hdr::BTH>(b.subspan(header.begin).first<iba::wire_size<iba::hdr::BTH>>());
        if (!is_mad(d.mad, bth.destQP)) d.datagram = datagram_name(d.mad, bth.destQP);
    }
}

} // namespace

dissection dissect(const message& m, message_kind kind) {
    dissection d;
    const std::span<const u8> b = m.bytes;
    switch (kind == message_kind::automatic ? guess(m) : kind) {
    case message_kind::umad:
        if (b.size() < sizeof(ib_user_mad_hdr))
            throw std::runtime_error(
                fmt::format("{} bytes are too short for a umad header of {} bytes", b.size(), sizeof(ib_user_mad_hdr)));
        d.umad = format_umad(b);
        d.mad = b.subspan(sizeof(ib_user_mad_hdr));
        break;
    case message_kind::packet: take_headers(d, b, mad::packet_start::LRH); break;
    case message_kind::grh:
        if (b.size() > grh_size && looks_like_mad(b.subspan(grh_size))) {
            d.headers.push_back({&iba::info_of<iba::hdr::GRH>, 0});
            d.mad = b.subspan(grh_size);
        } else {
            take_headers(d, b, mad::packet_start::GRH);
        }
        break;
    case message_kind::bth: take_headers(d, b, mad::packet_start::BTH); break;
    case message_kind::mad:
    case message_kind::automatic: d.mad = b; break;
    }
    if (d.headers.empty() && d.mad.size() < iba::wire_size<iba::MADHeader>)
        throw std::runtime_error(fmt::format("{} bytes are too short for a MAD header of {} bytes", d.mad.size(),
                                             iba::wire_size<iba::MADHeader>));
    if (!d.datagram.empty()) return d;
    const iba::mad_tables tables = iba::tables_of(d.mad);
    d.format = tables.format;
    d.attribute = tables.attribute;
    return d;
}

namespace {

std::span<const u8> part_of(const message& m, const part& p) {
    return std::span<const u8>(m.bytes).subspan(p.begin, p.table->bytes);
}

template <class Print> std::string print_parts(const message& m, const dissection& d, Print print) {
    std::string text;
    if (!d.umad.empty()) text += "umad header " + d.umad + '\n';
    for (const part& header : d.headers)
        text += fmt::format("{}\n{}", header.table->name, print(*header.table, part_of(m, header), nullptr));
    if (!d.datagram.empty()) text += d.datagram + '\n';
    if (d.mad.empty()) return text;
    const record_info words{"", "", static_cast<unsigned>(d.mad.size()), {}};
    if (d.format) text += fmt::format("{}\n", d.format->name);
    else if (d.datagram.empty()) text += "a MAD of an unknown class\n";
    return text + print(d.format ? *d.format : words, d.mad, d.attribute);
}

} // namespace

std::string format_dump(const message& m, const dissection& d) {
    return print_parts(m, d, [](const record_info& info, std::span<const u8> b, const record_info* data) {
        return iba::dump(info, b, data);
    });
}

std::string format_dotted(const message& m, const dissection& d) {
    return print_parts(m, d, [](const record_info& info, std::span<const u8> b, const record_info* data) {
        return info.rows.empty() ? iba::dump(info, b) : iba::dotted(info, b, data);
    });
}

std::string message_json(const message& m, const dissection& d) {
    const auto exact = [](const record_info& info, std::span<const u8> bytes, const record_info* data) {
        return iba::detail::json_object(info, bytes, data, iba::json_style::exact);
    };
    auto all = nlohmann::ordered_json::object();
    for (const part& header : d.headers) all[header.table->name] = exact(*header.table, part_of(m, header), nullptr);
    if (!d.datagram.empty()) all["datagram"] = d.datagram;
    if (d.attribute) all["attribute"] = d.attribute->name;
    if (d.format) all[d.format->name] = exact(*d.format, d.mad, d.attribute);
    else if (!d.mad.empty()) all["data"] = iba::detail::json_bytes(d.mad);
    return iba::detail::json_compact(all);
}

} // namespace ibtool
