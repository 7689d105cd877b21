// SPDX-License-Identifier: MIT
// table.hpp - the vocabulary in which an IBA structure is described, one row per field, and the checks of a table.
// Knows no structure of the IBA and moves no bytes; codec.hpp does.
//
//     struct Example { u8 kind; u32 number; std::array<u8, 4> list; };
//     template <> struct described<Example> : std::true_type {
//         using T = Example;
//         static constexpr auto layout = describe<8>("Example", "14.2.5.99",
//             field<&T::kind,   at{0},     8>{"kind", show::hex},
//             reserved<         at{1},     2>{},
//             field<&T::number, at{1, 2}, 22>{"number"},
//             field<&T::list,   at{4},    32>{"list"});
//     };
//
// Rows stand in wire order and tile the structure; reserved ranges are rows. A table that does not is an error where it
// is written, whether or not anything uses it.
#pragma once
#include <comad/iba/types.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace comad::iba {

/// A position as the IBA writes it: byte, then bit, most significant bit first.
struct at {
    unsigned byte;
    unsigned bit = 0;

    constexpr unsigned off() const noexcept { return byte * 8 + bit; }
};

/// How printers show a field.
enum class show : u8 {
    dec,    ///< decimal
    hex,    ///< 0x and as many digits as the width has
    guid,   ///< 0017:77ff:feb6:2ca4
    prefix, ///< the upper half of a GID: fe80::/64
    name,   ///< the name that names_of<> gives the value
    text,   ///< bytes, UTF-8 up to the first NUL
    bytes,  ///< opaque bytes
    data,   ///< opaque bytes that hold the attribute of a MAD
};

/// One enumerator and its name, for printing.
struct enum_name {
    u64 value;
    std::string_view name;
};
/// The names of an enumeration. Specialised beside the enumeration, before any table uses it.
template <class E> inline constexpr std::span<const enum_name> names_of{};

struct record_info;

/// One row as run-time code (printers, filters, comparison) sees it. Rows of an inlined header appear as rows of the
/// record that inlines it.
struct row_info {
    std::string_view name; ///< IBA name; empty: reserved
    u16 off = 0;           ///< first bit
    u16 width = 0;         ///< bits of one element
    u16 count = 1;         ///< elements; 1 if not an array
    show how = show::dec;
    std::span<const enum_name> names;    ///< of show::name
    const record_info* nested = nullptr; ///< the table of each element if it is a structure

    constexpr bool is_reserved() const noexcept { return name.empty(); }
    constexpr unsigned bits() const noexcept { return unsigned{width} * count; }
    /// True if its bytes are one value, not a list of numbers.
    constexpr bool is_blob() const noexcept { return how == show::text || how == show::bytes || how == show::data; }
};

/// A table as run-time code sees it.
struct record_info {
    std::string_view name;    ///< full name, SMPNodeInfo
    std::string_view section; ///< of the IBA, volume 1, unless it says otherwise
    unsigned bytes;
    std::span<const row_info> rows; ///< in wire order
};

/// Specialised for every structure with a table: derives from std::true_type and has a static `layout`.
template <class T> struct described : std::false_type {};

/// A structure with a table.
template <class T>
concept wire = described<T>::value;

/// Bytes of the structure on the wire.
template <wire T> inline constexpr unsigned wire_size = decltype(described<T>::layout)::bytes;

/// The table of T for run-time code.
template <wire T>
inline constexpr record_info info_of{described<T>::layout.name, described<T>::layout.section, wire_size<T>,
                                     described<T>::layout.rows};

namespace detail {

template <class M> struct member_pointer;
template <class Owner, class Value> struct member_pointer<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};
template <auto Member> using owner_of = typename member_pointer<decltype(Member)>::owner;
template <auto Member> using value_of = typename member_pointer<decltype(Member)>::value;

template <class V> inline constexpr bool is_array = false;
template <class E, std::size_t N> inline constexpr bool is_array<std::array<E, N>> = true;

/// What a row repeats: the elements of an array, or the member itself, once.
template <class V> struct elements {
    using type = V;
    static constexpr unsigned count = 1;
};
template <class E, std::size_t N> struct elements<std::array<E, N>> {
    using type = E;
    static constexpr unsigned count = N;
};
template <class V> using element_of = typename elements<V>::type;

template <class E> consteval bool has_wire_form() { return wire<E> || std::is_unsigned_v<E> || std::is_enum_v<E>; }

template <class E> consteval bool holds(unsigned width) {
    if constexpr (wire<E>) return true;
    else return width <= (std::is_same_v<E, bool> ? 1 : sizeof(E) * 8);
}

template <class E> consteval bool nests(unsigned off, unsigned width) {
    if constexpr (wire<E>) return off % 8 == 0 && width == wire_size<E> * 8;
    else return true;
}

/// Up to 32 bits lie in one 32-bit word, more in two. The IBA keeps to it, so a row that does not is mistyped.
consteval bool straddles(unsigned off, unsigned width) { return off % 32 + width > (width <= 32 ? 32 : 64); }

template <class E> consteval bool any_straddles(unsigned off, unsigned width, unsigned count) {
    for (unsigned i = 0; i < count && !wire<E>; ++i)
        if (straddles(off + i * width, width)) return true;
    return false;
}

/// The checks of one row: a base class, so that naming the row runs them.
template <class V, unsigned Off, unsigned Width> struct checked_member {
    using element = element_of<V>;
    static constexpr unsigned count = elements<V>::count;

    static_assert(has_wire_form<element>(), "member is neither unsigned, bool, enumeration, structure nor their array");
    static_assert(Width > 0 && Width % count == 0, "field does not divide into the elements of its member");
    static_assert(holds<element>(Width / count), "member type is narrower than the wire field");
    static_assert(nests<element>(Off, Width / count), "nested structure has another size than its field");
    static_assert(!any_straddles<element>(Off, Width / count, count), "field straddles its 32-bit word");
};

template <class V> consteval show default_show() {
    return std::is_same_v<element_of<V>, guid> ? show::guid : show::dec;
}

} // namespace detail

/// One row of an IBA table: member, position, width in bits of the whole member; then name and display. Members are
/// unsigned integers, bool (one bit), enumerations, described structures, or a std::array of those, whose elements
/// share the width evenly. A guid is shown as one unless the row says otherwise.
template <auto Member, at Pos, unsigned Width>
struct field : detail::checked_member<detail::value_of<Member>, Pos.off(), Width> {
    using value_type = detail::value_of<Member>;
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;
    static constexpr bool is_reserved = false;

    std::string_view name;
    show how;

    consteval field(std::string_view row_name, show row_show = detail::default_show<value_type>())
        : name(row_name), how(row_show) {}

    consteval row_info* append_to(row_info* out) const {
        row_info row{name, off, Width / field::count, field::count, how, {}, nullptr};
        if (how == show::name) row.names = names_of<typename field::element>;
        if (how == show::name && row.names.empty()) throw "show::name needs a member whose type has names_of";
        if (row.is_blob() && (off % 8 != 0 || row.width != 8)) throw "show::text, bytes and data need whole bytes";
        if constexpr (wire<typename field::element>) row.nested = &info_of<typename field::element>;
        *out = row;
        return out + 1;
    }
};

/// A header that a format begins with: a nested structure whose rows appear as rows of this record, without a prefix.
template <auto Member, at Pos>
struct inlined : detail::checked_member<detail::value_of<Member>, Pos.off(), wire_size<detail::value_of<Member>> * 8> {
    static constexpr const record_info& header = info_of<detail::value_of<Member>>;
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = header.bytes * 8;
    static constexpr unsigned row_count = static_cast<unsigned>(header.rows.size());
    static constexpr bool is_reserved = false;

    consteval row_info* append_to(row_info* out) const {
        for (row_info row : header.rows) {
            row.off = static_cast<u16>(row.off + off);
            *out++ = row;
        }
        return out;
    }
};

/// A range without meaning: encoded as zero, ignored by decode, printed by dumps only.
template <at Pos, unsigned Width> struct reserved {
    static constexpr auto member = nullptr;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;
    static constexpr bool is_reserved = true;
    static constexpr bool is_whole_bytes = off % 8 == 0 && width % 8 == 0;

    static_assert(Width > 0, "reserved row has no bits");
    static_assert(is_whole_bytes || !detail::straddles(off, width), "field straddles its 32-bit word");

    consteval row_info* append_to(row_info* out) const {
        if constexpr (width <= 64) *out = {{}, off, width, 1, show::dec, {}, nullptr};
        else *out = {{}, off, 8, width / 8, show::bytes, {}, nullptr};
        return out + 1;
    }
};

/// A described structure: what describe() returns. The types of the rows are what decode and encode are made from,
/// their values in `rows` what run-time code reads.
template <unsigned Bytes, class... Rows> struct record {
    static constexpr unsigned bytes = Bytes;

    std::string_view name;
    std::string_view section;
    std::array<row_info, (Rows::row_count + ...)> rows;
};

namespace detail {

/// How rows lie in a record of `bytes` bytes.
template <std::size_t N> struct tiling {
    unsigned bytes;
    std::array<unsigned, N> begin;
    std::array<unsigned, N> end;

    consteval bool is_ordered() const {
        for (std::size_t i = 1; i < N; ++i)
            if (begin[i] < begin[i - 1]) return false;
        return true;
    }
    consteval bool has_overlap() const {
        for (std::size_t i = 1; i < N; ++i)
            if (begin[i] < end[i - 1]) return true;
        return false;
    }
    consteval bool has_hole() const {
        for (std::size_t i = 1; i < N; ++i)
            if (begin[i] > end[i - 1]) return true;
        return begin[0] > 0 || end[N - 1] < bytes * 8;
    }
    consteval bool leaves_record() const { return end[N - 1] > bytes * 8; }
};

} // namespace detail

/// Describes a structure of `Bytes` bytes on the wire: its full name, its section of the IBA, its rows in wire order.
/// Does not compile if rows overlap, leave a hole, lie outside the record, cross a 32-bit word, are wider than their
/// member, or have another size than the structure they nest.
template <unsigned Bytes, class... Rows>
consteval record<Bytes, Rows...> describe(std::string_view name, std::string_view section, Rows... rows) {
    constexpr detail::tiling<sizeof...(Rows)> tiles{Bytes, {Rows::off...}, {(Rows::off + Rows::width)...}};
    static_assert(tiles.is_ordered(), "rows are not in wire order");
    static_assert(!tiles.has_overlap(), "rows overlap");
    static_assert(!tiles.has_hole(), "rows leave a hole");
    static_assert(!tiles.leaves_record(), "row lies outside the record");

    record<Bytes, Rows...> result{name, section, {}};
    row_info* out = result.rows.data();
    ((out = rows.append_to(out)), ...);
    return result;
}

} // namespace comad::iba
