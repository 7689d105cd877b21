// SPDX-License-Identifier: MIT
// table.hpp - the vocabulary in which an IBA structure is described, one row per field, and the checks of a table.
// Knows no structure of the IBA and moves no bytes; codec.hpp does.
//
//     struct Example { u8 kind; u8 reserved_8; u32 number; std::array<u8, 4> list; };
//     template <> struct described<Example> : std::true_type {
//         using T = Example;
//         static constexpr auto layout = describe<8>("Example", "14.2.5.99",
//             field<&T::kind,          at{0},     8>{"kind", show::hex},
//             reserved<&T::reserved_8, at{1},     2>{},
//             field<&T::number,        at{1, 2}, 22>{"number"},
//             field<&T::list,          at{4},    32>{"list"});
//     };
//
// Rows stand in wire order and tile the structure; reserved ranges are rows with members, so that what a newer peer put
// there survives decoding and encoding. A table that does not tile is an error where it is written, whether or not
// anything uses it.
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
    gid,    ///< fe80::17:77ff:feb6:2ca4
    prefix, ///< the upper half of a GID: fe80::/64
    name,   ///< the name that names_of<> gives the value
    text,   ///< bytes, UTF-8 up to the first NUL
    bytes,  ///< opaque bytes
    data,   ///< opaque bytes that hold the attribute of a MAD
};

/// How many bits of an SA query's component mask a row has (IBA 15.2.5: from bit 0 on, in wire order, reserved rows too).
enum class mask : u8 {
    one,           ///< as nearly all; a nested structure has those of its rows instead
    two,           ///< PathRecord.serviceID: the field was once two
    each,          ///< one for each element
    with_previous, ///< the bit of the row before: one component that is described in two pieces
    none,          ///< a range that was added without a bit
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
    std::string_view name; ///< IBA name; of a reserved range `reserved_144`: its first bit
    u16 off = 0;           ///< first bit
    u16 width = 0;         ///< bits of one element
    u16 count = 1;         ///< elements; 1 if not an array
    show how = show::dec;
    std::span<const enum_name> names;    ///< of show::name
    const record_info* nested = nullptr; ///< the table of each element if it is a structure
    mask masked = mask::one;
    bool is_reserved = false;

    constexpr unsigned bits() const noexcept { return unsigned{width} * count; }
    /// True if its bytes are one value, not a list of numbers.
    constexpr bool is_blob() const noexcept { return how == show::text || how == show::bytes || how == show::data; }
    /// True if it is a number, or an array of numbers, of at most 64 bits each.
    constexpr bool is_number() const noexcept { return !nested && !is_blob() && how != show::gid; }
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

template <class E> inline constexpr bool is_gid = std::is_same_v<E, gid>;

template <class E> consteval bool has_wire_form() {
    return wire<E> || std::is_unsigned_v<E> || std::is_enum_v<E> || is_gid<E>;
}

template <class E> consteval bool holds(unsigned width) {
    if constexpr (wire<E>) return true;
    else if constexpr (is_gid<E>) return width == 128;
    else return width <= (std::is_same_v<E, bool> ? 1 : sizeof(E) * 8);
}

template <class E> consteval bool nests(unsigned off, unsigned width) {
    if constexpr (wire<E>) return off % 8 == 0 && width == wire_size<E> * 8;
    else return !is_gid<E> || off % 8 == 0;
}

/// Up to 32 bits lie in one 32-bit word, more in two. The IBA keeps to it, so a row that does not is mistyped.
consteval bool straddles(unsigned off, unsigned width) { return off % 32 + width > (width <= 32 ? 32 : 64); }

template <class E> consteval bool any_straddles(unsigned off, unsigned width, unsigned count) {
    for (unsigned i = 0; i < count && !wire<E> && !is_gid<E>; ++i)
        if (straddles(off + i * width, width)) return true;
    return false;
}

/// The checks of one row: a base class, so that naming the row runs them.
template <class V, unsigned Off, unsigned Width> struct checked_member {
    using element = element_of<V>;
    static constexpr unsigned count = elements<V>::count;

    static_assert(has_wire_form<element>(),
                  "member is neither unsigned, bool, enumeration, gid, structure nor their array");
    static_assert(Width > 0 && Width % count == 0, "field does not divide into the elements of its member");
    static_assert(holds<element>(Width / count), "member type is narrower than the wire field");
    static_assert(nests<element>(Off, Width / count), "nested structure has another size than its field");
    static_assert(!any_straddles<element>(Off, Width / count, count), "field straddles its 32-bit word");
};

template <class V> consteval show default_show() {
    if (std::is_same_v<element_of<V>, guid>) return show::guid;
    return is_gid<element_of<V>> ? show::gid : show::dec;
}

/// `reserved_144`
template <unsigned Off> struct reserved_name {
    static constexpr unsigned digits = Off < 10 ? 1 : Off < 100 ? 2 : Off < 1000 ? 3 : 4;
    static constexpr auto chars = [] {
        std::array<char, 9 + digits> text{'r', 'e', 's', 'e', 'r', 'v', 'e', 'd', '_'};
        unsigned rest = Off;
        for (unsigned i = digits; i-- > 0; rest /= 10) text[9 + i] = static_cast<char>('0' + rest % 10);
        return text;
    }();
    static constexpr std::string_view view{chars.data(), chars.size()};
};

} // namespace detail

/// One row of an IBA table: member, position, width in bits of the whole member; then name, display and what it has of a
/// component mask. Members are unsigned integers, bool (one bit), enumerations, gids, described structures, or a
/// std::array of those, whose elements share the width evenly. A guid or gid is shown as one unless the row says
/// otherwise.
template <auto Member, at Pos, unsigned Width>
struct field : detail::checked_member<detail::value_of<Member>, Pos.off(), Width> {
    using value_type = detail::value_of<Member>;
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;

    std::string_view name;
    show how;
    mask masked;

    consteval field(std::string_view row_name, show row_show, mask row_mask = mask::one)
        : name(row_name), how(row_show), masked(row_mask) {}
    consteval field(std::string_view row_name, mask row_mask = mask::one)
        : field(row_name, detail::default_show<value_type>(), row_mask) {}

    consteval row_info* append_to(row_info* out) const {
        row_info row{name, off, Width / field::count, field::count, how, {}, nullptr, masked, false};
        if ((how == show::gid) != detail::is_gid<typename field::element>)
            throw "show::gid is for gids, and they for it";
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

    consteval row_info* append_to(row_info* out) const {
        for (row_info row : header.rows) {
            row.off = static_cast<u16>(row.off + off);
            *out++ = row;
        }
        return out;
    }
};

/// A range without meaning: zero unless somebody put something there; shown by dumps only. Its member is an unsigned
/// integer or, above 64 bits, an array of bytes; its name comes from its place.
template <auto Member, at Pos, unsigned Width>
struct reserved : detail::checked_member<detail::value_of<Member>, Pos.off(), Width> {
    static constexpr auto member = Member;
    static constexpr unsigned off = Pos.off();
    static constexpr unsigned width = Width;
    static constexpr unsigned row_count = 1;

    mask masked;

    consteval reserved(mask row_mask = mask::one) : masked(row_mask) {}

    consteval row_info* append_to(row_info* out) const {
        const show how = reserved::count > 1 ? show::bytes : show::dec;
        *out = {detail::reserved_name<off>::view,
                off,
                Width / reserved::count,
                reserved::count,
                how,
                {},
                nullptr,
                masked,
                true};
        return out + 1;
    }
};

/// A described structure: what describe() returns. The types of the rows are what decode and encode are made from,
/// their values in `rows` what run-time code reads.
template <unsigned Bytes, class... Rows> struct record {
    static constexpr unsigned bytes = Bytes;

    std::string_view name;
    std::string_view section;
    std::array<row_info, (Rows::row_count + ... + 0)> rows;
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

/// No rows: three attributes of the IBA are empty.
template <> struct tiling<0> {
    unsigned bytes;
    std::array<unsigned, 0> begin, end;

    consteval bool is_ordered() const { return true; }
    consteval bool has_overlap() const { return false; }
    consteval bool has_hole() const { return bytes > 0; }
    consteval bool leaves_record() const { return false; }
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
    [[maybe_unused]] row_info* out = result.rows.data();
    ((out = rows.append_to(out)), ...);
    return result;
}

} // namespace comad::iba
