// SPDX-License-Identifier: MIT
// types.hpp - integers and the few strong types of the wire. Knows no structure and no table.
#pragma once
#include <cstdint>

namespace comad {
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
} // namespace comad

namespace comad::iba {

/// An EUI-64 of a node, port or system image, host order. Printed `0017:77ff:feb6:2ca4`.
/// An enumeration, so that it costs nothing, decodes like an integer, and is never mistaken for one.
enum class guid : u64 {};

/// A local identifier, host order: 1..0xbfff unicast, 0xc000..0xfffe multicast (IBA 4.1.3).
enum class lid : u16 {};

/// The permissive LID: "whoever receives this", used by directed routes (IBA 4.1.3).
inline constexpr lid permissive_lid{0xffff};

constexpr u64 value(guid g) noexcept { return static_cast<u64>(g); }
constexpr u16 value(lid l) noexcept { return static_cast<u16>(l); }

} // namespace comad::iba
