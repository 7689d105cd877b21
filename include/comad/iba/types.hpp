// SPDX-License-Identifier: MIT
// types.hpp - integer types, and strong types for GUIDs, LIDs and GIDs with their fmt formatters. It does not depend
// on any structure.
#pragma once
#if __cplusplus < 202002L
#error "comad needs C++20: compile with -std=c++20 or later"
#endif
#include <comad/iba/detail/text_formatter.hpp>

#include <array>
#include <compare>
#include <cstdint>

namespace comad {
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
} // namespace comad

namespace comad::iba {

/// An EUI-64 of a node, port or system image, host order. Printed as `0017:77ff:feb6:2ca4`. It is an enumeration: it
/// costs nothing, decodes like an integer, and does not convert to one implicitly.
enum class guid : u64 {};

/// A local identifier, host order: 1..0xbfff unicast, 0xc000..0xfffe multicast (IBA 4.1.3).
enum class lid : u16 {};

/// The permissive LID, which any port accepts; used by directed routes (IBA 4.1.3).
inline constexpr lid permissive_lid{0xffff};
/// Returns whether this is a unicast LID: 1 to 0xbfff (IBA 4.1.3).
constexpr bool is_unicast(lid l) noexcept { return l >= lid{1} && l <= lid{0xbfff}; }

/// The upper half of a GID that every port has, in any subnet: fe80::/64 (IBA 4.1.1).
inline constexpr u64 link_local_prefix = 0xfe80000000000000;

/// A global identifier (IBA 4.1.1): the bytes of an IPv6 address, wire order. Printed as an IPv6 address:
/// `fe80::17:77ff:feb6:2ca4`.
struct gid {
    std::array<u8, 16> bytes{};

    constexpr gid() = default;
    /// A GID from the subnet prefix and the GUID of a port, host order.
    constexpr gid(u64 prefix, guid port) noexcept {
        for (unsigned i = 0; i < 8; ++i) {
            bytes[i] = static_cast<u8>(prefix >> (56 - 8 * i));
            bytes[8 + i] = static_cast<u8>(static_cast<u64>(port) >> (56 - 8 * i));
        }
    }
    /// Returns the upper half, host order.
    constexpr u64 prefix() const noexcept { return half(0); }
    /// Returns the lower half; for a unicast GID the GUID of the port.
    constexpr guid interface_id() const noexcept { return guid{half(8)}; }

    friend constexpr auto operator<=>(const gid&, const gid&) = default;

private:
    constexpr u64 half(unsigned begin) const noexcept {
        u64 number = 0;
        for (unsigned i = begin; i < begin + 8; ++i) number = number << 8 | bytes[i];
        return number;
    }
};

/// Returns the number of a GUID or LID.
constexpr u64 value(guid g) noexcept { return static_cast<u64>(g); }
constexpr u16 value(lid l) noexcept { return static_cast<u16>(l); }

} // namespace comad::iba

/// Formats a GUID as `0017:77ff:feb6:2ca4`; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::guid> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::iba::guid, format_context&) const;
};

/// Formats a GID as `fe80::17:77ff:feb6:2ca4`; takes the format specification of a string.
template <> struct fmt::formatter<comad::iba::gid> : comad::iba::detail::text_formatter {
    format_context::iterator format(const comad::iba::gid&, format_context&) const;
};

/// Formats a LID in decimal; takes the format specification of an integer.
template <> struct fmt::formatter<comad::iba::lid> {
    constexpr auto parse(format_parse_context& context) { return specification_.parse(context); }
    format_context::iterator format(comad::iba::lid, format_context&) const;

private:
    fmt::formatter<unsigned> specification_;
};
