// SPDX-License-Identifier: MIT
// path.hpp - the address of a MAD: LID-routed and directed-route paths, with the values of the packet headers. It does
// not depend on a transport. path_text.hpp parses the text that users type.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <variant>

namespace comad::mad {

// A path holds values of packet headers, in host order. For a packet that is sent, the source is the local port; for a
// received packet, the source is the remote port. Every RPC holds a path by value, so paths are small: the order of
// members avoids padding, and only a LID-routed path has global addresses.

/// The members that every path has: those of the local route, base transport and datagram headers (IBA 7.7, 9.2,
/// 9.3.1), the timing and the retries.
struct path_headers {
    /// The value of an index that is not chosen yet. No table has this many entries: PartitionCap and GUIDCap are
    /// smaller.
    static constexpr u16 look_up = 0xffff;

    iba::lid DLID{};   ///< destination LID
    iba::lid SLID{};   ///< source LID; 0 lets the transport use the port's own
    u16 pkey = 0xffff; ///< P_Key in the packet; 0xffff also selects the default P_Key of the port (port_tables::find())
    /// Index of the P_Key in the table of the local port. Devices take the index, so an explicit index overrides
    /// `pkey`. look_up: the transport finds the index of `pkey` when it sends (port_tables). SMPs have no
    /// P_Key; for SMPs look_up means index 0.
    u16 pkey_index = look_up;
    u32 dqpn = 1;          ///< destination QP of a GMP, 24 bits; an SMP always goes to QP0
    u32 sqpn = 1;          ///< source QP, 24 bits
    u64 MKey = 0;          ///< M_Key written into SMPs
    u32 qkey = 0x80010000; ///< Q_Key of QP1 (IBA 3.5.3)
    u8 SL = 0;             ///< service level, 4 bits
    iba::MTU MTU = iba::MTU::m256;
    iba::Rate rate = iba::Rate::r2_5;
    u8 packet_life_time = 18; ///< one-way time, 4.096 us * 2^n; the default of PortInfo.subnetTimeOut
    u8 resp_time = 20;        ///< time until the node replies, 4.096 us * 2^n (C13-13.1.1)
    u8 retries = 0;           ///< attempts after the first, for callers that derive the options of an RPC from a path

    friend bool operator==(const path_headers&, const path_headers&) = default;
};

/// A LID-routed address (IBA 4.1.3), global if it has GIDs. If only the GID of a target is known, DGID is set, and
/// DLID is 0 until a resolver fills it in.
struct IBPath : path_headers {
    bool has_grh = false; ///< the packet has a global route header (IBA 8.3); the members from hop_limit on describe it
    u64 SMKey = 0;        ///< SM_Key written into SA MADs (IBA 15.2.1)
    u64 CCKey = 0;        ///< CC_Key written into congestion control MADs (IBA A10.4.2)
    u8 hop_limit = 0;     ///< largest number of routers on the way
    u8 traffic_class = 0;
    /// Index of the local GID in the table of the local port, 0..255: the SGID of a MAD that is sent, the DGID of a
    /// received one. An explicit index overrides `SGID`. look_up: the transport finds the index of `SGID`; for a zero
    /// `SGID` it is 0.
    u16 SGID_index = look_up;
    u32 flow_label = 0; ///< 20 bits
    iba::gid SGID;      ///< zero: unknown
    iba::gid DGID;      ///< zero: unknown

    friend bool operator==(const IBPath&, const IBPath&) = default;
};

/// A directed route from the local port (IBA 14.2.1.2): the egress ports, hop by hop. It has no global addresses.
///
/// LID-routed parts may precede and follow the directed part (IBA 14.2.2). The first one goes from SLID and drSLID, the sending
/// port, to DLID, the switch where the directed part starts. The last one goes to drDLID, the final target.
struct IBDRPath : path_headers {
    static constexpr unsigned max_hops = 63;

    iba::lid drSLID = iba::permissive_lid; ///< source of the first LID-routed part; permissive: no such part
    iba::lid drDLID = iba::permissive_lid; ///< target of the last LID-routed part; permissive: no such part

    u8 hopCount = 0;             ///< hops after the local node, 0..63
    std::array<u8, 64> drPath{}; ///< drPath[0] is 0; drPath[i] is the egress port of hop i

    IBDRPath() noexcept {
        DLID = SLID = iba::permissive_lid;
        dqpn = sqpn = qkey = 0;
    }
    /// The route through these egress ports. Precondition: at most 63 ports.
    explicit IBDRPath(std::span<const u8> ports) noexcept : IBDRPath() {
        for (u8 port : ports) drPath[++hopCount] = port;
    }

    /// Returns the route that leaves the switch with this LID through `port`. The SMP is LID-routed from the local LID
    /// to the switch.
    static IBDRPath from_lid(iba::lid switch_lid, u8 port, iba::lid own_lid) noexcept {
        IBDRPath route(std::span<const u8>(&port, 1));
        route.DLID = switch_lid;
        route.SLID = route.drSLID = own_lid;
        return route;
    }

    /// Returns whether the route has fewer than max_hops hops.
    bool can_extend() const noexcept { return hopCount < max_hops; }
    /// Returns the route with one more hop, through `port` of its last node. Precondition: can_extend().
    IBDRPath extended(u8 port) const noexcept {
        IBDRPath longer = *this;
        longer.drPath[++longer.hopCount] = port;
        return longer;
    }
    /// Returns the egress ports after the local node.
    std::span<const u8> hops() const noexcept { return {drPath.data() + 1, hopCount}; }

    friend bool operator==(const IBDRPath&, const IBDRPath&) = default;
};

/// A LID-routed or directed-route path, by value.
using any_path = std::variant<IBPath, IBDRPath>;

/// Returns the members that both kinds of path have.
inline const path_headers& headers_of(const any_path& p) noexcept {
    if (auto* d = std::get_if<IBDRPath>(&p)) return *d;
    return *std::get_if<IBPath>(&p);
}
/// Returns the path if it is a directed route, else null.
inline const IBDRPath* directed(const any_path& p) noexcept { return std::get_if<IBDRPath>(&p); }

/// Returns eight bytes of a route as they lie in memory, from drPath[at], with zeros after its last hop. `at`: a
/// multiple of 8, at most hopCount. The function copies whole words, because GCC turns a copy of unknown length into a
/// slow string instruction.
inline u64 route_word(const IBDRPath& route, unsigned at) noexcept {
    static_assert(std::endian::native == std::endian::little, "the mask keeps the bytes that are first in memory");
    u64 word;
    std::memcpy(&word, route.drPath.data() + at, sizeof word);
    const unsigned used = route.hopCount + 1u - at;
    return used < 8 ? word & ~(~u64{0} << used * 8) : word;
}

/// Returns a number that identifies the destination by its address. The same route or LID gives the same key; two
/// routes to one node give two keys. Never 0. After a collision of the 64-bit hash, two destinations only share a
/// bound.
u64 destination_key(const any_path& p) noexcept;

/// Returns the longest time until the reply to a MAD arrives: 4.096 us * (2^(packet_life_time + 1) + 2^resp_time), for
/// both directions and the work of the node (IBA 13.4.6.2, C13-13.1.1). Exponents above 49, which mean years, count as
/// 49.
duration mad_timeout(const path_headers&) noexcept;
inline duration mad_timeout(const any_path& p) noexcept { return mad_timeout(headers_of(p)); }

/// Returns the path of the reply to a MAD that arrived on this path (IBA 13.5.4). Source and destination are swapped;
/// with a GRH the hop limit is 255. The hops of a directed route do not change, because the nodes on the way reverse
/// the route.
IBPath reverse(IBPath) noexcept;
IBDRPath reverse(IBDRPath) noexcept;
any_path reverse(const any_path&) noexcept;

/// Returns whether a MAD can be sent on this path as it is: both LIDs are unicast, and with a GRH both GIDs are set.
bool complete(const IBPath&) noexcept;
/// Returns whether a MAD can be sent on this route as it is: at most 63 hops, and the first LID-routed part, if there
/// is one, has both ends.
bool complete(const IBDRPath&) noexcept;
bool complete(const any_path&) noexcept;

/// Returns the path without M_Key, SM_Key and CC_Key, for text that must not contain keys.
any_path without_keys(any_path p) noexcept;

/// Returns the path as text for messages, as python-rdma prints it: `Path 3 -> 7 SL=0 PKey=0xffff DQPN=1`; with a GRH
/// `Path <SGID> 3 -> <DGID> 7 TC=0 FL=0 HL=255 SL=...`; `DR Path (0, 1, 4)`, with LID-routed parts `DR Path 9 -> (0,
/// 1, 4) -> 12`.
std::string to_string(const any_path& p);

} // namespace comad::mad

/// Formats to_string(path); takes the format specification of a string.
template <> struct fmt::formatter<comad::mad::any_path> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::mad::any_path& p, format_context& context) const {
        return format_text(to_string(p), context);
    }
};
template <> struct fmt::formatter<comad::mad::IBPath> : fmt::formatter<comad::mad::any_path> {};
template <> struct fmt::formatter<comad::mad::IBDRPath> : fmt::formatter<comad::mad::any_path> {};
