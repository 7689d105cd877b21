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
// Rows stand in wire order and tile the structure; reserved ranges are rows. A table that does not is an error where it is
// written, whether or not anything uses it.
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
template <class E>
inline constexpr std::span<const enum_name> names_of{};

struct record_info;

/// One row as run-time code (printers, filters, comparison) sees it. Rows of an inlined header appear as rows of the
/// record that inlines it.
struct row_info {
    std::string_view name;            ///< IBA name; empty: reserved
    u16 off = 0;                      ///< first bit
    u16 width = 0;                    ///< bits of one element
    u16 count = 1;                    ///< elements; 1 if not an array
    show how = show::dec;
    std::span<const enum_name> names; ///< of show::name
    const record_info* nested = nullptr; ///< the table of each element, if it is a structure

    constexpr bool is_reserved() const noexcept { return name.empty(); }
    constexpr unsigned bits() const noexcept { return unsigned{width} * count; }
};

/// A table as run-time code sees it.
struct record_info {
    std::string_view name;    ///< full name, SMPNodeInfo
    std::string_view section; ///< of the IBA, volume 1, unless it says otherwise
    unsigned bytes;
    std::span<const row_info> rows; ///< in wire order
};

/// Specialised for every structure with a table: derives from std::true_type and has a static `layout`.
template <class T>
struct described : std::false_type {};

/// A structure with a table.
template <class T>
concept wire = described<T>::value;

/// Bytes of the structure on the wire.
template <wire T>
inline constexpr unsigned wire_size = decltype(described<T>::layout)::bytes;

/// The table of T for run-time code.
template <wire T>
inline constexpr record_info info_of{described<T>::layout.name, described<T>::layout.section, wire_size<T>,
                                     described<T>::layout.rows};

namespace detail {

template <class M>
struct member_pointer;
template <class Owner, class Value>
struct member_pointer<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};

/// What a member consists of: one element of its own type, or the elements of an array.
template <class V>
struct elements {
    using type = V;
    static constexpr unsigned count = 1;
};
template <class E, std::size_t N>
struct elements<std::array<E, N>> {
    using type = E;
    static constexpr unsigned count = N;
};
template <class V>
inline constexpr bool is_array = false;
template <class E, std::size_t N>
inline constexpr bool is_array<std::array<E, N>> = true;

template <class E>
inline constexpr bool is_scalar = std::is_unsigned_v<E> || std::is_enum_v<E>;

/// Up to 32 bits lie in one 32-bit word, more in two. The IBA keeps to it, so a row that does not is a typing error.
consteval bool straddles(unsigned off, unsigned width) { return off % 32 + width > (width <= 32 ? 32 : 64); }

consteval bool any_straddles(unsigned off, unsigned width, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        if (straddles(off + i * width, width)) return true;
    return false;
}

template <class V>
consteval show default_show() {
    return std::is_same_v<typename elements<V>::type, guid> ? show::guid : show::dec;
}

/// The checks of one row, as a base class so that they run when the row is named.
template <class V, unsigned Off, unsigned Width>
struct checked_member {
    using element = typename elements<V>::type;
    static constexpr unsigned count = elements<V>::count;
    static constexpr unsigned width = Width / count;

    static_assert(wire<element> || is_scalar<element>,
                  "member is no unsigned integer, bool, enumeration, described structure or array of those");
    static_assert(Width > 0 && Width % count == 0, "field does not divide into the elements of its member");

    static constexpr bool fits() {
        if constexpr (wire<element>) return true;
        else if constexpr (std::is_same_v<element, bool>) return width <= 1;
        else return width <= sizeof(element) * 8;
    }
    static_assert(fits(), "member type is narrower than the wire field");

    static constexpr bool sizes_agree() {
        if constexpr (wire<element>) return Off % 8 == 0 && width == wire_size<element> * 8;
        else return true;
    }
    static_assert(sizes_agree(), "nested structure has another size than its field, or begins inside a byte");

    static constexpr bool stays_in_words() {
        if constexpr (wire<element>) return true;
        else return !any_straddles(Off, width, count);
    }
    static_assert(stays_in_words() || !fits(), "field straddles its 32-bit word");
};

} // namespace detail

/// One row of an IBA table: member, position, width in bits of the whole member; then name and display.
/// Members are unsigned integers, bool (one bit), enumerations, described structures, or a std::array of those, whose
/// elements share the width evenly.
template <auto Member, at Pos, unsigned Width>
struct field : detail::checked_member<typename detail::member_pointer<decltype(Member)>::value, Pos.off(), Width> {
    using value_type = typename detail::member_pointer<decltype(Member)>::value;
    using element = typename detail::elements<value_type>::type;
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;
    static constexpr bool is_reserved = false;

    std::string_view name;
    show how;

    consteval field(std::string_view row_name, show row_show = detail::default_show<value_type>())
        : name(row_name), how(row_show) {}

    consteval void append_to(row_info*& out) const {
        row_info row{name, off, Width / detail::elements<value_type>::count, detail::elements<value_type>::count, how, {}, nullptr};
        if constexpr (std::is_enum_v<element>) {
            if (how == show::name) row.names = names_of<element>;
        }
        if (how == show::name && row.names.empty()) throw "show::name needs a member with names_of";
        if constexpr (wire<element>) row.nested = &info_of<element>;
        *out++ = row;
    }
};

/// A header that a format begins with: a nested structure whose rows appear as rows of this record, without a prefix.
template <auto Member, at Pos>
struct inlined : detail::checked_member<typename detail::member_pointer<decltype(Member)>::value, Pos.off(),
                                        wire_size<typename detail::member_pointer<decltype(Member)>::value> * 8> {
    using value_type = typename detail::member_pointer<decltype(Member)>::value;
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = wire_size<value_type> * 8;
    static constexpr unsigned row_count = static_cast<unsigned>(info_of<value_type>.rows.size());
    static constexpr bool is_reserved = false;

    consteval void append_to(row_info*& out) const {
        for (row_info row : info_of<value_type>.rows) {
            row.off = static_cast<u16>(row.off + off);
            *out++ = row;
        }
    }
};

/// A range without meaning: encoded as zero, ignored by decode, printed by dumps only.
template <at Pos, unsigned Width>
struct reserved {
    static constexpr auto member = nullptr;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;
    static constexpr bool is_reserved = true;
    static constexpr bool whole_bytes = off % 8 == 0 && width % 8 == 0;

    static_assert(Width > 0, "reserved row has no bits");
    static_assert(whole_bytes || !detail::straddles(off, width), "field straddles its 32-bit word");

    consteval void append_to(row_info*& out) const {
        const bool opaque = whole_bytes && Width > 64;
        *out++ = {{}, off, opaque ? 8 : Width, opaque ? Width / 8 : 1, opaque ? show::bytes : show::dec, {}, nullptr};
    }
};

/// A described structure: what describe() returns.
template <unsigned Bytes, class... Rows>
struct record {
    static constexpr unsigned bytes = Bytes;

    std::string_view name;
    std::string_view section;
    std::array<row_info, (Rows::row_count + ...)> rows;
};

namespace detail {

template <unsigned Bytes, class... Rows>
struct checked_rows {
    static constexpr unsigned count = sizeof...(Rows);
    static constexpr std::array<unsigned, count> off{Rows::off...};
    static constexpr std::array<unsigned, count> end{(Rows::off + Rows::width)...};

    static consteval bool in_order() {
        for (unsigned i = 1; i < count; ++i)
            if (off[i] < off[i - 1]) return false;
        return true;
    }
    static consteval bool overlap() {
        for (unsigned i = 1; i < count; ++i)
            if (off[i] < end[i - 1]) return true;
        return false;
    }
    static consteval bool hole() {
        for (unsigned i = 0; i < count; ++i)
            if (off[i] > (i == 0 ? 0 : end[i - 1])) return true;
        return end[count - 1] < Bytes * 8;
    }
    static consteval bool outside() {
        for (unsigned last : end)
            if (last > Bytes * 8) return true;
        return false;
    }

    // The first failure is the cause; the others would only repeat it.
    static_assert(in_order(), "rows are not in wire order");
    static_assert(!in_order() || !overlap(), "rows overlap");
    static_assert(!in_order() || overlap() || outside() || !hole(), "rows leave a hole");
    static_assert(!in_order() || overlap() || !outside(), "row lies outside the record");
};

} // namespace detail

/// Describes a structure of `Bytes` bytes on the wire: its full name, its section of the IBA, its rows in wire order.
/// Does not compile if rows overlap, leave a hole, lie outside the record, cross a 32-bit word, are wider than their
/// member, or have another size than the structure they nest.
template <unsigned Bytes, class... Rows>
consteval record<Bytes, Rows...> describe(std::string_view name, std::string_view section, Rows... rows) {
    static_assert(sizeof(detail::checked_rows<Bytes, Rows...>) > 0);
    record<Bytes, Rows...> result{name, section, {}};
    row_info* out = result.rows.data();
    (rows.append_to(out), ...);
    return result;
}

} // namespace comad::iba
