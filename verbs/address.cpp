// SPDX-License-Identifier: MIT
// address.cpp - converts paths to address handle attributes, and completions to sources.
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/transport_headers.hpp>
#include <comad/verbs/detail/address.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace comad::verbs {

namespace {

constexpr std::size_t ipv4_at = 20; // offset in the 40 bytes; the bytes before it are undefined

/// Returns whether the 40 bytes end with an IPv4 header, as in a datagram of RoCE v2 over IPv4 (IBA A17.4.5.2). The
/// bytes before the header may look like the start of IPv6. Therefore the checksum decides, as in the kernel
/// (ib_get_rdma_header_version).
bool is_ipv4(std::span<const u8, grh_size> grh) noexcept {
    const u8* const header = grh.data() + ipv4_at;
    if (header[0] != 0x45) return false;
    u32 sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) sum += iba::load_be<u16>(header + i);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

iba::gid mapped(const u8* ipv4) noexcept {
    iba::gid gid;
    gid.bytes[10] = gid.bytes[11] = 0xff;
    std::copy_n(ipv4, 4, gid.bytes.begin() + 12);
    return gid;
}

} // namespace

ibv_gid raw_gid(const iba::gid& gid) noexcept {
    ibv_gid raw;
    std::memcpy(raw.raw, gid.bytes.data(), sizeof raw.raw);
    return raw;
}

ibv_ah_attr address_of(const mad::IBPath& to, u8 port) noexcept {
    ibv_ah_attr address{};
    address.port_num = port;
    address.dlid = value(to.DLID);
    address.sl = to.SL;
    // The source LID is a LID of the port. Its low LMC bits, at most seven, are the path bits.
    address.src_path_bits = to.SLID == iba::permissive_lid ? 0 : value(to.SLID) & 0x7f;
    address.static_rate = static_cast<u8>(to.rate);
    if (to.has_grh) {
        address.is_global = 1;
        address.grh.dgid = raw_gid(to.DGID);
        address.grh.sgid_index = to.SGID_index == to.look_up ? u8{0} : static_cast<u8>(to.SGID_index);
        address.grh.hop_limit = to.hop_limit;
        address.grh.traffic_class = to.traffic_class;
        address.grh.flow_label = to.flow_label;
    }
    return address;
}

mad::source_address source_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept {
    mad::source_address source;
    source.SLID = iba::lid{static_cast<u16>(wc.slid)};
    source.SL = wc.sl;
    source.sqpn = wc.src_qp;
    source.path_bits = wc.dlid_path_bits;
    if (!(wc.wc_flags & IBV_WC_GRH)) return source;
    source.has_grh = true;
    if (is_ipv4(grh)) {
        source.traffic_class = grh[ipv4_at + 1];
        source.hop_limit = grh[ipv4_at + 8];
        source.SGID = mapped(grh.data() + ipv4_at + 12);
        return source;
    }
    iba::hdr::GRH header;
    iba::decode(header, grh.data());
    source.hop_limit = header.hopLmt;
    source.traffic_class = header.TClass;
    source.flow_label = header.flowLabel;
    source.SGID = header.SGID;
    return source;
}

iba::gid destination_of(const ibv_wc& wc, std::span<const u8, grh_size> grh) noexcept {
    if (!(wc.wc_flags & IBV_WC_GRH)) return {};
    if (is_ipv4(grh)) return mapped(grh.data() + ipv4_at + 16);
    iba::hdr::GRH header;
    iba::decode(header, grh.data());
    return header.DGID;
}

result<address_handle> address_handle::create(const pd& domain, const ibv_ah_attr& to) {
    ibv_ah_attr address = to;
    errno = 0;
    ibv_ah* const raw = ::ibv_create_ah(domain.get(), &address);
    if (!raw) return failed("cannot create an address handle on " + domain.device().name(), errno ? errno : EINVAL);
    return address_handle(own(raw, ::ibv_destroy_ah, domain));
}

} // namespace comad::verbs
