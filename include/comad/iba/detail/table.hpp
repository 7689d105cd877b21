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
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

namespace comad::iba {

/// A position as the IBA writes it: byte, then bit, most significant bit first.
struct at {
    unsigned byte;
    unsigned bit = 0;

    /// Bits before it.
    constexpr operator unsigned() const noexcept { return byte * 8 + bit; }
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
    details ///< opaque bytes that hold what the trap of their notice says (find_notice_details() in registry.hpp)
};

/// True of what is shown as bytes, not as numbers.
constexpr bool is_of_bytes(show how) noexcept { return how >= show::text; }

/// How many bits of an SA query's component mask a row has (IBA 15.2.5: from bit 0 on, in wire order, reserved rows
/// too).
enum class mask : u8 {
    one,           ///< as nearly all; a nested structure has those of its rows instead
    two,           ///< PathRecord.serviceID: the field was once two
    each,          ///< one for each element
    with_previous, ///< the bit of the row before: one component that is described in two pieces
    none,          ///< a range that was added without a bit
};

/// What a row says behind its name: how it is shown, what it has of a component mask, both, or nothing.
struct annotation {
    show how = show::dec;
    bool has_explicit_format = false; ///< false: the type of the field determines the format
    mask masked = mask::one;

    constexpr annotation() = default;
    constexpr annotation(mask m) : masked(m) {}
    constexpr annotation(show s, mask m = mask::one) : how(s), has_explicit_format(true), masked(m) {}
};

/// Whether the fields of a structure keep to 32-bit words. All of the IBA do, except details of notices, which begin in
/// the middle of a word.
enum class words : u8 { kept, crossed };

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
    constexpr bool is_blob() const noexcept { return is_of_bytes(how); }
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

namespace detail {
template <wire T> inline constexpr auto rows_of = described<T>::layout.list_rows();
}

/// The table of T for run-time code.
template <wire T>
inline constexpr record_info info_of{described<T>::layout.name, described<T>::layout.section, wire_size<T>,
                                     detail::rows_of<T>};

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

/// What a row must know of its member's type. Facts are found once for a type and rows are checked and listed by
/// ordinary functions: with templates for each row a file with all tables would compile twice as long.
struct member_facts {
    unsigned count;                   ///< elements
    unsigned bits;                    ///< of an element; 0: it has no form on the wire
    bool is_whole;                    ///< an element has all its bits on the wire, and begins on a byte
    show how;                         ///< unless the row says otherwise
    std::span<const enum_name> names; ///< of an enumeration
    const record_info* nested;        ///< of a structure
};

template <class E> constexpr member_facts facts_of_elements(unsigned count) {
    if constexpr (wire<E>) return {count, wire_size<E> * 8, true, show::dec, {}, &info_of<E>};
    else if constexpr (is_gid<E>) return {count, 128, true, show::gid, {}, nullptr};
    else if constexpr (std::is_same_v<E, bool>) return {count, 1, false, show::dec, {}, nullptr};
    else if constexpr (std::is_same_v<E, guid>) return {count, 64, false, show::guid, {}, nullptr};
    else if constexpr (std::is_unsigned_v<E> || std::is_enum_v<E>)
        return {count, sizeof(E) * 8, false, show::dec, names_of<E>, nullptr};
    else return {count, 0, false, show::dec, {}, nullptr};
}
template <class V>
inline constexpr member_facts facts_of = facts_of_elements<typename elements<V>::type>(elements<V>::count);

/// Where a row lies, and what in.
struct place {
    unsigned off;
    unsigned width;
    const member_facts* member;
    bool is_header;
};

/// `width` 0: a header, which has the width of its structure.
constexpr place place_of(unsigned off, unsigned width, const member_facts& member) {
    return {off, width > 0 ? width : member.bits, &member, width == 0};
}

/// What may be wrong with a row alone.
enum class flaw : u8 { none, no_wire_form, uneven, narrow, other_size, straddles };

/// Up to 32 bits lie in one 32-bit word, more in two. The IBA keeps to it, so a row that does not is mistyped.
constexpr bool straddles(unsigned off, unsigned width) { return off % 32 + width > (width <= 32 ? 32 : 64); }

constexpr flaw flaw_of(const place& row, words kept) {
    const member_facts& member = *row.member;
    if (member.bits == 0) return flaw::no_wire_form;
    if (row.width == 0 || row.width % member.count != 0) return flaw::uneven;
    const unsigned element = row.width / member.count;
    if (member.is_whole) return element == member.bits && row.off % 8 == 0 ? flaw::none : flaw::other_size;
    if (element > member.bits) return flaw::narrow;
    if (kept == words::crossed || (32 % element == 0 && row.off % element == 0)) return flaw::none;
    for (unsigned begin = row.off; begin < row.off + row.width; begin += element)
        if (straddles(begin, element)) return flaw::straddles;
    return flaw::none;
}

/// Says what is wrong with a row: a type, so that the error names the row.
template <class Row, flaw Flaw> struct checked_row {
    static_assert(Flaw != flaw::no_wire_form,
                  "member is neither unsigned, bool, enumeration, gid, structure nor their array");
    static_assert(Flaw != flaw::uneven, "field does not divide into the elements of its member");
    static_assert(Flaw != flaw::narrow, "member type is narrower than the wire field");
    static_assert(Flaw != flaw::other_size, "the size of the nested structure differs from its field");
    static_assert(Flaw != flaw::straddles, "field straddles its 32-bit word");
    static constexpr bool is_flawless = Flaw == flaw::none;
};

/// The rows of a header and of the headers in it.
constexpr unsigned flat_count(const record_info& header) {
    unsigned count = 0;
    for (const row_info& row : header.rows) count += row.nested ? flat_count(*row.nested) : 1;
    return count;
}

/// Appends the rows of a header that begins at bit `off`.
constexpr row_info* flatten(const record_info& header, unsigned off, row_info* out) {
    for (row_info row : header.rows) {
        row.off = static_cast<u16>(row.off + off);
        if (row.nested) out = flatten(*row.nested, row.off, out);
        else *out++ = row;
    }
    return out;
}

/// The rows of run-time code that `places` become.
constexpr unsigned flat_count(std::span<const place> places) {
    unsigned count = 0;
    for (const place& row : places) count += row.is_header ? flat_count(*row.member->nested) : 1;
    return count;
}

/// `reserved_144`, as characters.
template <std::size_t Digits> constexpr std::array<char, 9 + Digits> reserved_characters(unsigned off) {
    std::array<char, 9 + Digits> text{'r', 'e', 's', 'e', 'r', 'v', 'e', 'd', '_'};
    for (std::size_t i = text.size(); i-- > 9; off /= 10) text[i] = static_cast<char>('0' + off % 10);
    return text;
}
template <unsigned Off>
inline constexpr auto reserved_text = reserved_characters < Off < 10 ? 1
                                      : Off < 100                    ? 2
                                      : Off < 1000                   ? 3
                                                                     : 4 > (Off);
template <unsigned Off>
inline constexpr std::string_view reserved_name{reserved_text<Off>.data(), reserved_text<Off>.size()};

/// What a row says of itself beside its place.
struct row_value {
    const char* name = nullptr; ///< null: reserved
    annotation how = {};
};

/// Takes over what rows say. Throws, which does not compile, if one cannot be shown as it says.
constexpr void collect(std::initializer_list<const row_value*> rows, std::span<const place> places, row_value* out) {
    std::size_t i = 0;
    for (const row_value* row : rows) {
        const place& where = places[i++];
        *out++ = *row;
        if (!row->how.has_explicit_format) continue;
        const member_facts& m = *where.member;
        const show how = row->how.how;
        if ((how == show::gid) != (m.how == show::gid))
            throw "use show::gid for members of type gid, and only for these";
        if (how == show::name && m.names.empty()) throw "show::name needs a member whose type has names_of";
        if (is_of_bytes(how) && (where.off % 8 != 0 || where.width != 8 * m.count))
            throw "show::text and the formats after it need whole bytes";
    }
}

/// What run-time code sees of a row that is no header.
constexpr row_info info_of_row(const row_value& row, const place& where, std::string_view name_if_reserved) {
    const member_facts& m = *where.member;
    const bool is_reserved = row.name == nullptr;
    row_info info{is_reserved ? name_if_reserved : std::string_view(row.name),
                  static_cast<u16>(where.off),
                  static_cast<u16>(where.width / m.count),
                  static_cast<u16>(m.count),
                  m.how,
                  {},
                  m.nested,
                  row.how.masked,
                  is_reserved};
    if (is_reserved && m.count > 1) info.how = show::bytes;
    if (row.how.has_explicit_format) info.how = row.how.how;
    if (info.how == show::name) info.names = m.names;
    return info;
}

} // namespace detail

/// One row of an IBA table: member, position, width in bits of the whole member; then name, display and what it has of
/// a component mask. Members are unsigned integers, bool (one bit), enumerations, gids, described structures, or a
/// std::array of those, whose elements share the width evenly. A guid or gid is shown as one unless the row says
/// otherwise. Without a name it is a reserved range.
///
/// A class with next to nothing in it: there are 1,500 of them, and each member of theirs would be compiled as often.
template <auto Member, unsigned Off, unsigned Width> struct field : detail::row_value {};

/// A range without meaning: zero unless somebody put something there; shown by dumps only. Its member is an unsigned
/// integer or, above 64 bits, an array of bytes; its name comes from its place.
template <auto Member, unsigned Off, unsigned Width> using reserved = field<Member, Off, Width>;

/// A header that a format begins with: a nested structure whose rows appear as rows of this record, without a prefix.
/// The header that this header itself begins with is taken apart, too.
template <auto Member, unsigned Off> using inlined = field<Member, Off, 0>;

/// A described structure: what describe() returns. The types of the rows are what decode and encode are made from,
/// their values in `rows` what run-time code reads.
template <unsigned Bytes, class... Rows> struct record;
template <unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
struct record<Bytes, field<Member, Off, Width>...> {
    static constexpr unsigned bytes = Bytes;
    static constexpr std::array<detail::place, sizeof...(Member)> places{
        detail::place_of(Off, Width, detail::facts_of<detail::value_of<Member>>)...};

    const char* name;
    const char* section;
    std::array<detail::row_value, sizeof...(Member)> values;

    /// The rows for run-time code.
    constexpr auto list_rows() const {
        constexpr std::array<std::string_view, sizeof...(Off)> reserved_names{detail::reserved_name<Off>...};
        std::array<row_info, detail::flat_count(places)> rows;
        row_info* out = rows.data();
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (places[i].is_header) out = detail::flatten(*places[i].member->nested, places[i].off, out);
            else *out++ = detail::info_of_row(values[i], places[i], reserved_names[i]);
        }
        return rows;
    }

    /// Does not compile: the error names the rows and what is wrong with them.
    template <words Words> static consteval void name_flaws() {
        (void)(detail::checked_row<field<Member, Off, Width>,
                                   detail::flaw_of(
                                       detail::place_of(Off, Width, detail::facts_of<detail::value_of<Member>>),
                                       Words)>::is_flawless &&
               ...);
    }
};

namespace detail {

/// What may be wrong with the rows of a record together.
enum class problem : u8 { none, flawed_row, disorder, overlap, hole, outside };

constexpr problem problem_of(std::span<const place> rows, unsigned bytes, words kept) {
    problem found = problem::none;
    unsigned begin = 0;
    unsigned end = 0;
    for (const place& row : rows) {
        if (flaw_of(row, kept) != flaw::none) return problem::flawed_row;
        if (row.off < begin) return problem::disorder;
        if (row.off < end) return problem::overlap;
        if (row.off > end) found = problem::hole;
        begin = row.off;
        end = row.off + row.width;
    }
    if (end > bytes * 8) return problem::outside;
    return end < bytes * 8 ? problem::hole : found;
}

} // namespace detail

/// Describes a structure of `Bytes` bytes on the wire: its full name, its section of the IBA, its rows in wire order.
/// Does not compile if rows overlap, leave a hole, lie outside the record, cross a 32-bit word, are wider than their
/// member, or have another size than the structure they nest.
template <unsigned Bytes, words Words = words::kept, class... Rows>
consteval record<Bytes, Rows...> describe(const char* name, const char* section, const Rows&... rows) {
    using namespace detail;
    using table = record<Bytes, Rows...>;
    constexpr problem found = problem_of(table::places, Bytes, Words);
    if constexpr (found == problem::flawed_row) table::template name_flaws<Words>();
    static_assert(found != problem::disorder, "rows are not in wire order");
    static_assert(found != problem::overlap, "rows overlap");
    static_assert(found != problem::hole, "rows leave a hole");
    static_assert(found != problem::outside, "row lies outside the record");

    table result{name, section, {}};
    collect({&rows...}, table::places, result.values.data());
    return result;
}

} // namespace comad::iba
