// SPDX-License-Identifier: MIT
// bits.hpp - big-endian integers and bit ranges in unaligned bytes. Bits are numbered as in the IBA: bit 0 is the most
// significant bit of byte 0.
#pragma once
#include <comad/iba/types.hpp>

#include <bit>
#include <cstring>
#include <type_traits>

/// For the functions from which decode and encode are built. Without it, the code of clang is more than twice as slow.
#define COMAD_IBA_INLINE [[gnu::always_inline]] inline

namespace comad::iba {

/// Returns the big-endian integer at `p`; any alignment.
template <class U> COMAD_IBA_INLINE constexpr U load_be(const u8* p) noexcept {
    static_assert(std::is_unsigned_v<U>);
    U value = 0;
    if (std::is_constant_evaluated()) {
        for (unsigned i = 0; i < sizeof(U); ++i) value = static_cast<U>(static_cast<u64>(value) << 8 | p[i]);
        return value;
    }
    std::memcpy(&value, p, sizeof value);
    if constexpr (std::endian::native == std::endian::big) return value;
    if constexpr (sizeof(U) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(U) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(U) == 8) value = __builtin_bswap64(value);
    return value;
}

/// Writes `value` big-endian to `p`; any alignment.
template <class U> COMAD_IBA_INLINE constexpr void store_be(u8* p, std::type_identity_t<U> value) noexcept {
    static_assert(std::is_unsigned_v<U>);
    if (std::is_constant_evaluated()) {
        for (unsigned i = 0; i < sizeof(U); ++i) p[i] = static_cast<u8>(value >> 8 * (sizeof(U) - 1 - i));
        return;
    }
    if constexpr (std::endian::native == std::endian::little) {
        if constexpr (sizeof(U) == 2) value = __builtin_bswap16(value);
        if constexpr (sizeof(U) == 4) value = __builtin_bswap32(value);
        if constexpr (sizeof(U) == 8) value = __builtin_bswap64(value);
    }
    std::memcpy(p, &value, sizeof value);
}

/// The unsigned integer type of 1, 2, 4 or 8 bytes for the first piece of `Bytes` bytes.
template <unsigned Bytes>
using first_piece =
    std::conditional_t<(Bytes >= 8), u64,
                       std::conditional_t<(Bytes >= 4), u32, std::conditional_t<(Bytes >= 2), u16, u8>>>;

/// Returns the big-endian integer of 1 to 8 bytes at `p`. Reads no other bytes.
template <unsigned Bytes> COMAD_IBA_INLINE constexpr u64 load_bytes(const u8* p) noexcept {
    static_assert(Bytes >= 1 && Bytes <= 8);
    using piece = first_piece<Bytes>;
    constexpr unsigned rest = Bytes - sizeof(piece);
    if constexpr (rest == 0) return load_be<piece>(p);
    else return static_cast<u64>(load_be<piece>(p)) << 8 * rest | load_bytes<rest>(p + sizeof(piece));
}

/// Writes the low `Bytes` bytes of `value` big-endian to `p`. Writes no other bytes.
template <unsigned Bytes> COMAD_IBA_INLINE constexpr void store_bytes(u8* p, u64 value) noexcept {
    static_assert(Bytes >= 1 && Bytes <= 8);
    using piece = first_piece<Bytes>;
    constexpr unsigned rest = Bytes - sizeof(piece);
    store_be<piece>(p, static_cast<piece>(value >> 8 * rest));
    if constexpr (rest > 0) store_bytes<rest>(p + sizeof(piece), value);
}

/// Returns a mask of the low `width` bits, 1 to 64.
constexpr u64 low_bits(unsigned width) noexcept { return ~u64{0} >> (64 - width); }

/// Returns the bits [Off, Off + Width) of `p` as an integer. They must touch at most 8 bytes.
template <unsigned Off, unsigned Width> COMAD_IBA_INLINE constexpr u64 get_bits(const u8* p) noexcept {
    constexpr unsigned end = (Off + Width + 7) / 8;
    constexpr unsigned behind = end * 8 - (Off + Width);
    // 24 bits in the lower bytes of a 32-bit word are loaded with the word: one load instead of two.
    constexpr unsigned first = end % 4 == 0 && end - Off / 8 == 3 ? end - 4 : Off / 8;
    return load_bytes<end - first>(p + first) >> behind & low_bits(Width);
}

/// Writes the low `Width` bits of `value` to the bits [Off, Off + Width) of `p`; all other bits keep their values.
template <unsigned Off, unsigned Width> COMAD_IBA_INLINE constexpr void put_bits(u8* p, u64 value) noexcept {
    constexpr unsigned first = Off / 8;
    constexpr unsigned end = (Off + Width + 7) / 8;
    constexpr unsigned behind = end * 8 - (Off + Width);
    constexpr u64 mask = low_bits(Width) << behind;
    u64 word = 0;
    if constexpr (Width != (end - first) * 8) word = load_bytes<end - first>(p + first) & ~mask;
    store_bytes<end - first>(p + first, word | (value << behind & mask));
}

/// Copies `Bytes` bytes as a block. If it copied single elements, the code of GCC would decode SANodeRecord 4.5 times
/// slower.
template <unsigned Bytes> COMAD_IBA_INLINE constexpr void copy_bytes(u8* to, const u8* from) noexcept {
    if (std::is_constant_evaluated())
        for (unsigned i = 0; i < Bytes; ++i) to[i] = from[i];
    else std::memcpy(to, from, Bytes);
}

/// Returns bits as get_bits() does, for positions that are known only at run time: `width` 1 to 64 bits.
constexpr u64 bits_at(const u8* p, unsigned off, unsigned width) noexcept {
    u64 value = 0;
    if (off % 8 == 0 && width % 8 == 0) { // most fields; eight times faster
        for (unsigned byte = off / 8; byte < (off + width) / 8; ++byte) value = value << 8 | p[byte];
        return value;
    }
    for (unsigned bit = off; bit < off + width; ++bit) value = value << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

/// Writes bits as put_bits() does, for positions that are known only at run time: `width` 1 to 64 bits.
constexpr void put_bits_at(u8* p, unsigned off, unsigned width, u64 value) noexcept {
    if (off % 8 == 0 && width % 8 == 0) {
        for (unsigned byte = (off + width) / 8; byte-- > off / 8; value >>= 8) p[byte] = static_cast<u8>(value);
        return;
    }
    for (unsigned bit = off + width; bit-- > off; value >>= 1) {
        const unsigned here = 0x80u >> bit % 8;
        p[bit / 8] = static_cast<u8>((value & 1) != 0 ? p[bit / 8] | here : p[bit / 8] & ~here);
    }
}

} // namespace comad::iba
