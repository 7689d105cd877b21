// SPDX-License-Identifier: MIT
// table.hpp - the types that describe an IBA structure as a table with one row per field, and the checks of a table.
// It does not depend on any structure of the IBA, and does not access data; codec.hpp does.
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
// Rows are in wire order and cover the structure completely. Reserved ranges are rows with members, so decoding and encoding
// preserve the values that newer peers put there. A table with a gap or an overlap does not compile, whether or not it is
// used.
#pragma once
#include <comad/iba/types.hpp>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

namespace comad::iba {

/// A position in the notation of the IBA: byte, then bit, most significant bit first.
struct at {
    unsigned byte;
    unsigned bit = 0;

    /// Returns the number of bits before the position.
    constexpr operator unsigned() const noexcept { return byte * 8 + bit; }
};

/// How printers show a field.
enum class show : u8 {
    dec,    ///< decimal
    hex,    ///< 0x and all digits of the field's width
    guid,   ///< 0017:77ff:feb6:2ca4
    gid,    ///< fe80::17:77ff:feb6:2ca4
    prefix, ///< the upper half of a GID: fe80::/64
    name,   ///< the name that names_of<> gives the value
    text,   ///< bytes as UTF-8 text, up to the first NUL
    bytes,  ///< opaque bytes
    data,   ///< opaque bytes that contain the attribute of a MAD
    details ///< opaque bytes that contain the details of a notice; their structure depends on the trap
            ///< (find_notice_details() in registry.hpp)
};

/// Returns true if the field is shown as bytes, not as numbers.
constexpr bool is_of_bytes(show how) noexcept { return how >= show::text; }

/// How many bits of an SA query's component mask a row has (IBA 15.2.5: from bit 0 on, in wire order, including
/// reserved rows).
enum class mask : u8 {
    one,           ///< one bit, as in nearly all rows; a nested structure has the bits of its rows instead
    two,           ///< two bits: PathRecord.serviceID, which was two fields in the past
    each,          ///< one bit for each element
    with_previous, ///< the bit of the row before: the two rows describe one component
    none,          ///< no bit: a range that was added later
};

/// What a row specifies after its name: how it is shown, its component mask, both, or neither.
struct annotation {
    show how = show::dec;
    bool has_explicit_format = false; ///< false: the type of the field determines the format
    mask masked = mask::one;

    constexpr annotation() = default;
    constexpr annotation(mask m) : masked(m) {}
    constexpr annotation(show s, mask m = mask::one) : how(s), has_explicit_format(true), masked(m) {}
};

/// Whether the fields of a structure stay within 32-bit words. All fields of the IBA do, except in details of notices,
/// which start in the middle of a word.
enum class word_alignment : u8 { kept, crossed };

/// One enumerator and its name, for printing.
struct enum_name {
    u64 value;
    std::string_view name;
};
/// The names of an enumeration. Specialized next to the enumeration, before a table uses it.
template <class E> inline constexpr std::span<const enum_name> names_of{};

struct record_info;

/// One row for run-time code (printers, filters, comparison). Rows of an inlined header become rows of the record that
/// inlines the header.
struct row_info {
    std::string_view name; ///< name in the IBA; for a reserved range `reserved_144`, by its first bit
    u16 off = 0;           ///< first bit
    u16 width = 0;         ///< bits of one element
    u16 count = 1;         ///< number of elements; 1 if the member is not an array
    show how = show::dec;
    std::span<const enum_name> names;    ///< names of values, for show::name
    const record_info* nested = nullptr; ///< table of each element if it is a structure
    mask masked = mask::one;
    bool is_reserved = false;

    constexpr unsigned bits() const noexcept { return unsigned{width} * count; }
    /// Returns true if its bytes are one value, not a list of numbers.
    constexpr bool is_blob() const noexcept { return is_of_bytes(how); }
    /// Returns true if it is a number, or an array of numbers, of at most 64 bits each.
    constexpr bool is_number() const noexcept { return !nested && !is_blob() && how != show::gid; }
};

/// A table for run-time code.
struct record_info {
    std::string_view name;    ///< full name, SMPNodeInfo
    std::string_view section; ///< section of the IBA, volume 1, unless the text names another source
    unsigned bytes;
    std::span<const row_info> rows; ///< in wire order
};

/// Specialized for every structure with a table: derives from std::true_type and has a static `layout`.
template <class T> struct described : std::false_type {};

/// A structure with a table.
template <class T>
concept wire = described<T>::value;

/// The number of bytes of the encoded structure.
template <wire T> inline constexpr unsigned wire_size = decltype(described<T>::layout)::bytes;

namespace detail {
template <wire T> inline constexpr auto rows_of = described<T>::layout.list_rows();
}

/// The table of T for run-time code.
template <wire T>
inline constexpr record_info info_of{described<T>::layout.name, described<T>::layout.section, wire_size<T>,
                                     detail::rows_of<T>};

namespace detail {

/// The class and the value type of a pointer to a member.
template <class M> struct member_pointer;
template <class Owner, class Value> struct member_pointer<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};
/// The class and the value type of a member.
template <auto Member> using owner_of = typename member_pointer<decltype(Member)>::owner;
template <auto Member> using value_of = typename member_pointer<decltype(Member)>::value;

/// Whether a type is a std::array.
template <class V> inline constexpr bool is_array = false;
template <class E, std::size_t N> inline constexpr bool is_array<std::array<E, N>> = true;

/// The repeated part of a row: the element of an array, or the member itself, once.
template <class V> struct elements {
    using type = V;
    static constexpr unsigned count = 1;
};
template <class E, std::size_t N> struct elements<std::array<E, N>> {
    using type = E;
    static constexpr unsigned count = N;
};
/// The type of the elements of an array, or the type itself.
template <class V> using element_of = typename elements<V>::type;

/// Whether a type is a GID, which is encoded as 16 bytes.
template <class E> inline constexpr bool is_gid = std::is_same_v<E, gid>;

/// The properties of a member's type that a row needs. They are computed once per type, and ordinary functions check
/// and list the rows. If templates did this for each row, a file with all tables would take twice as long to compile.
struct member_facts {
    unsigned count;                   ///< elements
    unsigned bits;                    ///< bits of an element; 0: it cannot be encoded
    bool is_whole;                    ///< all bits of an element are encoded, and it starts at a byte boundary
    show how;                         ///< format, unless the row specifies one
    std::span<const enum_name> names; ///< names, for an enumeration
    const record_info* nested;        ///< table, for a structure
};

/// Returns the properties of `count` elements of a type.
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

/// The position and the type of a row.
struct row_position {
    unsigned off;
    unsigned width;
    const member_facts* member;
    bool is_header;
};

/// Returns the position of a row. `width` 0: a header, which has the width of its structure.
constexpr row_position position_of(unsigned off, unsigned width, const member_facts& member) {
    return {off, width > 0 ? width : member.bits, &member, width == 0};
}

/// A mistake in a single row.
enum class layout_error : u8 { none, no_wire_form, uneven, narrow, other_size, straddles };

/// Returns true if a row crosses a word boundary: up to 32 bits must be in one 32-bit word, wider rows in two. Such a
/// row is a typing error, because the IBA has none.
constexpr bool straddles(unsigned off, unsigned width) { return off % 32 + width > (width <= 32 ? 32 : 64); }

/// Returns the mistake in a row, or layout_error::none.
constexpr layout_error layout_error_of(const row_position& row, word_alignment kept) {
    const member_facts& member = *row.member;
    if (member.bits == 0) return layout_error::no_wire_form;
    if (row.width == 0 || row.width % member.count != 0) return layout_error::uneven;
    const unsigned element = row.width / member.count;
    if (member.is_whole)
        return element == member.bits && row.off % 8 == 0 ? layout_error::none : layout_error::other_size;
    if (element > member.bits) return layout_error::narrow;
    if (kept == word_alignment::crossed || (32 % element == 0 && row.off % element == 0)) return layout_error::none;
    for (unsigned begin = row.off; begin < row.off + row.width; begin += element)
        if (straddles(begin, element)) return layout_error::straddles;
    return layout_error::none;
}

/// Reports a mistake in a row. It is a type, so that the compiler's message names the row.
template <class Row, layout_error Flaw> struct checked_row {
    static_assert(Flaw != layout_error::no_wire_form,
                  "member is neither unsigned, bool, enumeration, gid, structure nor their array");
    static_assert(Flaw != layout_error::uneven, "field does not divide into the elements of its member");
    static_assert(Flaw != layout_error::narrow, "member type is narrower than the wire field");
    static_assert(Flaw != layout_error::other_size, "the size of the nested structure differs from its field");
    static_assert(Flaw != layout_error::straddles, "field straddles its 32-bit word");
    static constexpr bool is_flawless = Flaw == layout_error::none;
};

/// Returns the number of rows of a header, including those of nested headers.
constexpr unsigned flat_count(const record_info& header) {
    unsigned count = 0;
    for (const row_info& row : header.rows) count += row.nested ? flat_count(*row.nested) : 1;
    return count;
}

/// Appends the rows of a header that starts at bit `off`.
constexpr row_info* flatten(const record_info& header, unsigned off, row_info* out) {
    for (row_info row : header.rows) {
        row.off = static_cast<u16>(row.off + off);
        if (row.nested) out = flatten(*row.nested, row.off, out);
        else *out++ = row;
    }
    return out;
}

/// Returns the number of run-time rows for `places`.
constexpr unsigned flat_count(std::span<const row_position> places) {
    unsigned count = 0;
    for (const row_position& row : places) count += row.is_header ? flat_count(*row.member->nested) : 1;
    return count;
}

/// Returns `reserved_144` as characters.
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

/// The contents of a row other than its position.
struct row_value {
    const char* name = nullptr; ///< null for a reserved range
    annotation how = {};
};

/// Copies the contents of the rows. If a row cannot be shown in its format, the function throws, so that the table
/// does not compile.
constexpr void collect(std::initializer_list<const row_value*> rows, std::span<const row_position> places,
                       row_value* out) {
    std::size_t i = 0;
    for (const row_value* row : rows) {
        const row_position& where = places[i++];
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

/// Returns the run-time row for a row that is not a header.
constexpr row_info info_of_row(const row_value& row, const row_position& where, std::string_view name_if_reserved) {
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

/// One row of an IBA table: member, position, width in bits of the whole member; then name, display and component
/// mask. Members are unsigned integers, bool (one bit), enumerations, gids, described structures, or a std::array of
/// those, whose elements share the width evenly. A guid or gid is shown as one unless the row specifies another
/// format. A row without a name is a reserved range.
///
/// The class is nearly empty, because there are 1,500 instances, and each of its members would be compiled for each instance.
template <auto Member, unsigned Off, unsigned Width> struct field : detail::row_value {};

/// A reserved range: usually zero; only dumps show it. Its member is an unsigned integer or, above 64 bits, an array
/// of bytes. Its name is derived from its position.
template <auto Member, unsigned Off, unsigned Width> using reserved = field<Member, Off, Width>;

/// A header at the start of a format: a nested structure whose rows become rows of this record, without a prefix. A
/// header inside of this header is expanded in the same way.
template <auto Member, unsigned Off> using inlined = field<Member, Off, 0>;

/// A described structure, as describe() returns it. Decode and encode use the types of the rows; run-time code uses
/// the values in `rows`.
template <unsigned Bytes, class... Rows> struct record;
template <unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
struct record<Bytes, field<Member, Off, Width>...> {
    static constexpr unsigned bytes = Bytes;
    static constexpr std::array<detail::row_position, sizeof...(Member)> places{
        detail::position_of(Off, Width, detail::facts_of<detail::value_of<Member>>)...};

    const char* name;
    const char* section;
    std::array<detail::row_value, sizeof...(Member)> values;

    /// Returns the rows for run-time code.
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

    /// Does not compile if a row has a mistake: the compiler's message names the rows and the mistakes.
    template <word_alignment Words> static consteval void name_layout_errors() {
        (void)(detail::checked_row<field<Member, Off, Width>,
                                   detail::layout_error_of(
                                       detail::position_of(Off, Width, detail::facts_of<detail::value_of<Member>>),
                                       Words)>::is_flawless &&
               ...);
    }
};

namespace detail {

/// A mistake in the rows of a record as a whole.
enum class problem : u8 { none, flawed_row, disorder, overlap, hole, outside };

/// Returns the mistake in the rows of a record, or problem::none.
constexpr problem problem_of(std::span<const row_position> rows, unsigned bytes, word_alignment kept) {
    problem found = problem::none;
    unsigned begin = 0;
    unsigned end = 0;
    for (const row_position& row : rows) {
        if (layout_error_of(row, kept) != layout_error::none) return problem::flawed_row;
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

/// Describes a structure of `Bytes` encoded bytes: its full name, its section of the IBA, its rows in wire order. It
/// does not compile if rows overlap, leave a gap, are outside the record, cross a 32-bit word, are wider than their
/// member, or have another size than the structure in them.
template <unsigned Bytes, word_alignment Words = word_alignment::kept, class... Rows>
consteval record<Bytes, Rows...> describe(const char* name, const char* section, const Rows&... rows) {
    using namespace detail;
    using table = record<Bytes, Rows...>;
    constexpr problem found = problem_of(table::places, Bytes, Words);
    if constexpr (found == problem::flawed_row) table::template name_layout_errors<Words>();
    static_assert(found != problem::disorder, "rows are not in wire order");
    static_assert(found != problem::overlap, "rows overlap");
    static_assert(found != problem::hole, "rows leave a hole");
    static_assert(found != problem::outside, "row lies outside the record");

    table result{name, section, {}};
    collect({&rows...}, table::places, result.values.data());
    return result;
}

} // namespace comad::iba
