// SPDX-License-Identifier: MIT
// path.hpp - where a MAD goes: LID-routed and directed-route addresses, as they are written on the wire.
// Knows no transport; the text forms that users type are not here.
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

// A path says what is in the headers of the packet in whose context it is used: of what is sent, the source is this end
// port; of what was received, it is the other one. Host order. Every RPC holds a path by value, so paths are small: the
// members stand in an order without holes, and only a LID-routed path has room for global addresses.

/// What every path says: local route, base transport and datagram headers (IBA 7.7, 9.2, 9.3.1), and how the two ends
/// behave.
struct path_headers {
    /// Instead of an index: not chosen yet. No table is so long: PartitionCap and GUIDCap count fewer entries.
    static constexpr u16 look_up = 0xffff;

    iba::lid DLID{};   ///< destination LID
    iba::lid SLID{};   ///< source LID; 0 lets the transport use the port's own
    u16 pkey = 0xffff; ///< P_Key on the wire; 0xffff also means: the port's default one (port_tables::find())
    /// Index of the P_Key in the table of the local port. A device takes the index, so an explicit one wins over `pkey`.
    /// look_up: transports find the index of `pkey` when they send (port_tables). SMPs have no P_Key: look_up is 0 there.
    u16 pkey_index = look_up;
    u32 dqpn = 1;          ///< destination QP of a GMP, 24 bits; an SMP always goes to QP0
    u32 sqpn = 1;          ///< source QP, 24 bits
    u64 MKey = 0;          ///< M_Key written into SMPs
    u32 qkey = 0x80010000; ///< Q_Key of QP1 (IBA 3.5.3)
    u8 SL = 0;             ///< service level, 4 bits
    iba::MTU MTU = iba::MTU::m256;
    iba::Rate rate = iba::Rate::r2_5;
    u8 packet_life_time = 18; ///< 4.096 us * 2^n for one way; the default of PortInfo.subnetTimeOut
    u8 resp_time = 20;        ///< 4.096 us * 2^n for the answer (C13-13.1.1)
    u8 retries = 0;           ///< attempts after the first, for who makes an RPC's options of it

    friend bool operator==(const path_headers&, const path_headers&) = default;
};

/// A LID-routed address (IBA 4.1.3), global if it has GIDs. A target that is known by its GID only has DGID, and DLID 0,
/// until it is resolved.
struct IBPath : path_headers {
    bool has_grh = false; ///< there is a global route header (IBA 8.3), which the members from hop_limit on describe
    u64 SMKey = 0;        ///< SM_Key written into SA MADs (IBA 15.2.1)
    u64 CCKey = 0;        ///< CC_Key written into MADs of congestion control (IBA A10.4.2)
    u8 hop_limit = 0;     ///< routers it may pass
    u8 traffic_class = 0;
    /// Index of our own GID in the table of the local port, 0..255: SGID of what is sent, DGID of what was received. An
    /// explicit one wins over `SGID`. look_up: transports find the index of `SGID`; of a zero `SGID` it is 0.
    u16 SGID_index = look_up;
    u32 flow_label = 0; ///< 20 bits
    iba::gid SGID;      ///< zero: unknown
    iba::gid DGID;      ///< zero: unknown

    friend bool operator==(const IBPath&, const IBPath&) = default;
};

/// A directed route from the local port (IBA 14.2.1.2): the egress ports, hop by hop. It has no global addresses.
///
/// A LID-routed part may stand in front (DLID: the switch at its end; SLID and drSLID: the port that sends) and behind
/// (drDLID: the final target), IBA 14.2.2.
struct IBDRPath : path_headers {
    static constexpr unsigned max_hops = 63;

    iba::lid drSLID = iba::permissive_lid; ///< source of the LID-routed part in front; permissive: there is none
    iba::lid drDLID = iba::permissive_lid; ///< target of the LID-routed part behind; permissive: there is none

    u8 hopCount = 0;             ///< hops after the local node, 0..63
    std::array<u8, 64> drPath{}; ///< drPath[0] is 0; drPath[i] is the egress port of hop i

    IBDRPath() noexcept {
        DLID = SLID = iba::permissive_lid;
        dqpn = sqpn = qkey = 0;
    }
    /// The route through `ports`, each an egress port. Precondition: at most 63.
    explicit IBDRPath(std::span<const u8> ports) noexcept : IBDRPath() {
        for (u8 port : ports) drPath[++hopCount] = port;
    }

    /// Through `port` of the switch that has this LID, LID-routed from our own LID to there.
    static IBDRPath from_lid(iba::lid switch_lid, u8 port, iba::lid own_lid) noexcept {
        IBDRPath route(std::span<const u8>(&port, 1));
        route.DLID = switch_lid;
        route.SLID = route.drSLID = own_lid;
        return route;
    }

    bool can_extend() const noexcept { return hopCount < max_hops; }
    /// The route one hop longer, through `port` of its last node. Precondition: can_extend().
    IBDRPath extended(u8 port) const noexcept {
        IBDRPath longer = *this;
        longer.drPath[++longer.hopCount] = port;
        return longer;
    }
    /// The egress ports after the local node.
    std::span<const u8> hops() const noexcept { return {drPath.data() + 1, hopCount}; }

    friend bool operator==(const IBDRPath&, const IBDRPath&) = default;
};

/// Either kind of address, by value.
using any_path = std::variant<IBPath, IBDRPath>;

inline const path_headers& headers_of(const any_path& p) noexcept {
    if (auto* d = std::get_if<IBDRPath>(&p)) return *d;
    return *std::get_if<IBPath>(&p);
}
inline const IBDRPath* directed(const any_path& p) noexcept { return std::get_if<IBDRPath>(&p); }

/// Eight bytes of a route as they lie in memory, from drPath[at], with zeros behind its last hop. `at`: a multiple of 8,
/// at most hopCount. Whole words, because GCC makes a slow string instruction of a copy whose length it does not know.
inline u64 route_word(const IBDRPath& route, unsigned at) noexcept {
    static_assert(std::endian::native == std::endian::little, "the mask keeps the bytes that are first in memory");
    u64 word;
    std::memcpy(&word, route.drPath.data() + at, sizeof word);
    const unsigned used = route.hopCount + 1u - at;
    return used < 8 ? word & ~(~u64{0} << used * 8) : word;
}

/// Identifies the destination as it is addressed: the same route or the same LID gives the same key, and two
/// routes to one node give two keys. Never 0. A collision (64-bit hash) only makes two destinations share a bound.
u64 destination_key(const any_path& p) noexcept;

/// How long an answer to a MAD may take: 4.096 us * (2^(packet_life_time + 1) + 2^resp_time), there and back and in
/// between (IBA 13.4.6.2, C13-13.1.1). Exponents of more than 49, which are years, count as 49.
duration mad_timeout(const path_headers&) noexcept;
inline duration mad_timeout(const any_path& p) noexcept { return mad_timeout(headers_of(p)); }

/// The path of the reply to what came on this one (IBA 13.5.4): source and destination change places; with a GRH the hop
/// limit is 255. The hops of a directed route stay: the nodes on the way turn it round themselves.
IBPath reverse(IBPath) noexcept;
IBDRPath reverse(IBDRPath) noexcept;
any_path reverse(const any_path&) noexcept;

/// A MAD can be sent to it as it is: unicast LIDs of both ends; both GIDs, if there is a GRH.
bool complete(const IBPath&) noexcept;
/// A MAD can be sent to it as it is: 63 hops at most, and a LID-routed part in front has both of its ends.
bool complete(const IBDRPath&) noexcept;
bool complete(const any_path&) noexcept;

/// The same path without M_Key, SM_Key and CC_Key: for text, where they must not be.
any_path without_keys(any_path p) noexcept;

/// For messages, as python-rdma tells them: `Path 3 -> 7 SL=0 PKey=0xffff DQPN=1`; with a GRH `Path <SGID> 3 -> <DGID> 7
/// TC=0 FL=0 HL=255 SL=...`; `DR Path (0, 1, 4)`, with LID-routed parts `DR Path 9 -> (0, 1, 4) -> 12`.
std::string to_string(const any_path& p);

} // namespace comad::mad

/// to_string(path); takes the format specification of a string.
template <> struct fmt::formatter<comad::mad::any_path> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::mad::any_path& p, format_context& context) const {
        return format_text(to_string(p), context);
    }
};
template <> struct fmt::formatter<comad::mad::IBPath> : fmt::formatter<comad::mad::any_path> {};
template <> struct fmt::formatter<comad::mad::IBDRPath> : fmt::formatter<comad::mad::any_path> {};
