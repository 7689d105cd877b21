// SPDX-License-Identifier: MIT
// path.hpp - where a MAD goes: LID-routed and directed-route addresses, as they are written on the wire.
// Knows no transport; the text forms that users type are not here.
#pragma once
#include <comad/iba/types.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <variant>

namespace comad::mad {

/// A LID-routed address (IBA 4.1.3, 7.7, 9.2): the packet headers of a MAD that is sent with it. All host order.
struct IBPath {
    iba::lid DLID{};       ///< destination LID
    iba::lid SLID{};       ///< source LID; 0 lets the transport use the port's own
    u8 SL = 0;             ///< service level
    u16 pkey_index = 0;    ///< index into the port's P_Key table
    u32 dqpn = 1;          ///< destination QP of a GMP; an SMP always goes to QP0
    u32 qkey = 0x80010000; ///< Q_Key of QP1 (IBA 3.5.3)
    u64 MKey = 0;          ///< M_Key written into SMPs

    friend bool operator==(const IBPath&, const IBPath&) = default;
};

/// A directed route from the local port (IBA 14.2.1.2): the egress ports, hop by hop.
struct IBDRPath : IBPath {
    static constexpr unsigned max_hops = 63;

    iba::lid drSLID = iba::permissive_lid; ///< LID-routed part before the route; permissive: none
    iba::lid drDLID = iba::permissive_lid; ///< LID-routed part after the route; permissive: none
    u8 hopCount = 0;                       ///< hops after the local node, 0..63
    std::array<u8, 64> drPath{};           ///< drPath[0] is 0; drPath[i] is the egress port of hop i

    IBDRPath() noexcept { DLID = SLID = iba::permissive_lid; }
    /// The route through `ports`, each an egress port. Precondition: at most 63.
    explicit IBDRPath(std::span<const u8> ports) noexcept : IBDRPath() {
        for (u8 port : ports) drPath[++hopCount] = port;
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

inline const IBPath& headers_of(const any_path& p) noexcept {
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

/// `DR Path (0, 1, 4)` or `Lid 7`, for messages.
std::string to_string(const any_path& p);

} // namespace comad::mad
