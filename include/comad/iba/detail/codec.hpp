// SPDX-License-Identifier: MIT
// codec.hpp - decodes and encodes structures and accesses single fields, by the table of a structure. All functions
// accept bytes of any alignment and work in constant expressions. They do not depend on any structure of the IBA.
#pragma once
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/table.hpp>

#include <array>
#include <span>
#include <utility>

namespace comad::iba {

template <wire T> constexpr void decode(T& out, const u8* p) noexcept;
template <wire T> constexpr void encode(const T& in, u8* p) noexcept;

namespace detail {

/// Whether a member is an array of whole bytes at a byte boundary, which is copied as a block.
template <class V, unsigned Off, unsigned Width> inline constexpr bool is_byte_block = false;
template <std::size_t N, unsigned Off, unsigned Width>
inline constexpr bool is_byte_block<std::array<u8, N>, Off, Width> = Off % 8 == 0 && Width == 8 * N;

/// Decode and encode one member: a number, GID, nested structure or array.
template <unsigned Off, unsigned Width, class V> constexpr void read_value(V& v, const u8* p) noexcept;
template <unsigned Off, unsigned Width, class V> constexpr void write_value(const V& v, u8* p) noexcept;

/// Decodes the elements of an array.
template <unsigned Off, unsigned Width, class V, std::size_t... I>
COMAD_IBA_INLINE constexpr void read_elements(V& v, const u8* p, std::index_sequence<I...>) noexcept {
    (read_value<Off + I * Width, Width>(v[I], p), ...);
}

template <unsigned Off, unsigned Width, class V>
COMAD_IBA_INLINE constexpr void read_value(V& v, const u8* p) noexcept {
    using parts = elements<V>;
    if constexpr (wire<V>) decode(v, p + Off / 8);
    else if constexpr (is_gid<V>) copy_bytes<16>(v.bytes.data(), p + Off / 8);
    else if constexpr (is_byte_block<V, Off, Width>) copy_bytes<parts::count>(v.data(), p + Off / 8);
    else if constexpr (is_array<V>)
        read_elements<Off, Width / parts::count>(v, p, std::make_index_sequence<parts::count>{});
    else v = static_cast<V>(get_bits<Off, Width>(p));
}

/// Encodes the elements of an array.
template <unsigned Off, unsigned Width, class V, std::size_t... I>
COMAD_IBA_INLINE constexpr void write_elements(const V& v, u8* p, std::index_sequence<I...>) noexcept {
    (write_value<Off + I * Width, Width>(v[I], p), ...);
}

template <unsigned Off, unsigned Width, class V>
COMAD_IBA_INLINE constexpr void write_value(const V& v, u8* p) noexcept {
    using parts = elements<V>;
    if constexpr (wire<V>) encode(v, p + Off / 8);
    else if constexpr (is_gid<V>) copy_bytes<16>(p + Off / 8, v.bytes.data());
    else if constexpr (is_byte_block<V, Off, Width>) copy_bytes<parts::count>(p + Off / 8, v.data());
    else if constexpr (is_array<V>)
        write_elements<Off, Width / parts::count>(v, p, std::make_index_sequence<parts::count>{});
    else put_bits<Off, Width>(p, static_cast<u64>(v));
}

/// Encoding writes every bit once, in order, so it never reads the buffer: values are shifted into `pending`, and each
/// value stores the bytes that it completes. `pending` restarts at each byte boundary, because one chain of dependent
/// instructions across the record would make the code of GCC 1.8 times slower.
template <unsigned Off, unsigned Width>
COMAD_IBA_INLINE constexpr void push_bits(u8* p, u64 value, u64& pending) noexcept {
    constexpr unsigned end = Off + Width;
    constexpr unsigned complete = end / 8 - Off / 8;
    if constexpr (Off % 8 == 0) pending = value; // bits above Width end up above the stored bytes
    else pending = pending << Width | (value & low_bits(Width));
    if constexpr (complete > 0) store_bytes<complete>(p + Off / 8, pending >> end % 8);
}

/// Encodes one member in wire order, with push_bits() for numbers.
template <unsigned Off, unsigned Width, class V> constexpr void push_value(const V& v, u8* p, u64& pending) noexcept;

/// Encodes the elements of an array in wire order.
template <unsigned Off, unsigned Width, class V, std::size_t... I>
COMAD_IBA_INLINE constexpr void push_elements(const V& v, u8* p, u64& pending, std::index_sequence<I...>) noexcept {
    (push_value<Off + I * Width, Width>(v[I], p, pending), ...);
}

template <unsigned Off, unsigned Width, class V>
COMAD_IBA_INLINE constexpr void push_value(const V& v, u8* p, u64& pending) noexcept {
    using parts = elements<V>;
    if constexpr (wire<V> || is_gid<V> || is_byte_block<V, Off, Width>) write_value<Off, Width>(v, p);
    else if constexpr (is_array<V>)
        push_elements<Off, Width / parts::count>(v, p, pending, std::make_index_sequence<parts::count>{});
    else push_bits<Off, Width>(p, static_cast<u64>(v), pending);
}

/// Decodes all rows of a table.
template <class T, unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
COMAD_IBA_INLINE constexpr void decode_rows(const record<Bytes, field<Member, Off, Width>...>&, [[maybe_unused]] T& out,
                                            [[maybe_unused]] const u8* p) noexcept {
    (read_value<Off, Width>(out.*Member, p), ...);
}

/// Encodes all rows of a table, in wire order.
template <class T, unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
COMAD_IBA_INLINE constexpr void encode_rows(const record<Bytes, field<Member, Off, Width>...>&,
                                            [[maybe_unused]] const T& in, [[maybe_unused]] u8* p) noexcept {
    [[maybe_unused]] u64 pending = 0;
    (push_value<Off, Width>(in.*Member, p, pending), ...);
}

/// Returns whether two pointers point to the same member, of any type.
template <auto Member, auto Other> consteval bool is_same_member() {
    if constexpr (std::is_same_v<decltype(Member), decltype(Other)>) return Member == Other;
    else return false;
}

/// Returns the index of a member in its table.
template <auto Member, unsigned Bytes, auto... Members, unsigned... Off, unsigned... Width>
consteval std::size_t place_in(const record<Bytes, field<Members, Off, Width>...>&) {
    std::size_t index = 0;
    (void)((is_same_member<Member, Members>() || (++index, false)) || ...);
    return index;
}
/// Returns the index of a member in the table of its structure. Does not compile if the table has no row for the
/// member.
template <auto Member> consteval std::size_t place_index() {
    constexpr std::size_t index = place_in<Member>(described<owner_of<Member>>::layout);
    static_assert(index < described<owner_of<Member>>::layout.places.size(),
                  "member has no row in its structure's table");
    return index;
}
/// The position of a member in the encoded structure.
template <auto Member>
inline constexpr const row_position& extent_of = described<owner_of<Member>>::layout.places[place_index<Member>()];

} // namespace detail

/// Decodes a structure from the wire_size<T> bytes at `p`. For bytes of unknown length, use decode_checked()
/// (checked_codec.hpp).
template <wire T> constexpr void decode(T& out, const u8* p) noexcept {
    detail::decode_rows(described<T>::layout, out, p);
}

/// Returns the structure that `bytes` contain.
template <wire T> constexpr T decode(std::span<const u8, wire_size<T>> bytes) noexcept {
    T out{};
    decode(out, bytes.data());
    return out;
}

/// Encodes a structure into the wire_size<T> bytes at `p`. If a value is too large for its field, its low bits are
/// written; other fields keep their values. encode_checked() (checked_codec.hpp) rejects such values.
template <wire T> constexpr void encode(const T& in, u8* p) noexcept {
    detail::encode_rows(described<T>::layout, in, p);
}

/// Returns the encoded structure.
template <wire T> constexpr std::array<u8, wire_size<T>> encode(const T& in) noexcept {
    std::array<u8, wire_size<T>> bytes{};
    encode(in, bytes.data());
    return bytes;
}

/// Returns one field of the encoded structure at `p`: get<&PortInfo::LID>(p). For a member of an inlined header, name
/// the member of the header and pass the address of the header: get<&MADHeader::method>(p).
template <auto Member> constexpr auto get(const u8* p) noexcept {
    constexpr const detail::row_position& where = detail::extent_of<Member>;
    detail::value_of<Member> v{};
    detail::read_value<where.off, where.width>(v, p);
    return v;
}

/// Writes one field of the encoded structure at `p`; every other bit keeps its value. If the value is too large, its
/// low bits are written. For members of inlined headers, see get().
template <auto Member> constexpr void put(u8* p, const detail::value_of<Member>& v) noexcept {
    constexpr const detail::row_position& where = detail::extent_of<Member>;
    detail::write_value<where.off, where.width>(v, p);
}

/// The offset of a member in bytes. For Format::data, the offset of the attribute in the MAD.
template <auto Member> inline constexpr unsigned offset_of = detail::extent_of<Member>.off / 8;

} // namespace comad::iba
