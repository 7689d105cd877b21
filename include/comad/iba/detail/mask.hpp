// SPDX-License-Identifier: MIT
// mask.hpp - component masks: the bits of an SA query that select the fields to compare (IBA 15.2.5).
//
// Bits are assigned in wire order from bit 0, including reserved rows, as row_info.masked specifies. The rows of a nested
// structure have their own bits, one level deep. An array has one bit unless each element has its own.
#pragma once
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/table.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

namespace comad::iba {

namespace detail {

/// Bits of a component mask: `count` bits from bit `first` on.
struct components {
    unsigned first = 0;
    unsigned count = 0;

    /// Returns the mask bits. A mask has 64 bits; structures that are not records may have more rows.
    constexpr u64 bits() const noexcept {
        return count == 0 || count > 64 || first > 64 - count ? 0 : low_bits(count) << first;
    }
};

/// Returns whether the rows of a nested structure have their own bits.
constexpr bool is_expanded(const row_info& row) noexcept {
    return row.nested && row.count == 1 && row.masked == mask::one;
}

/// Returns the number of bits of a row. `expands`: false for rows inside a nested structure.
constexpr unsigned component_count(const row_info& row, bool expands = true) noexcept {
    switch (row.masked) {
    case mask::two: return 2;
    case mask::each: return row.count;
    case mask::with_previous:
    case mask::none: return 0;
    case mask::one: break;
    }
    if (!expands || !is_expanded(row)) return 1;
    unsigned all = 0;
    for (const row_info& inner : row.nested->rows) all += component_count(inner, false);
    return all;
}

/// Returns the components of the row `index` of `info`, if the first row starts at bit `first`.
constexpr components components_of(const record_info& info, std::size_t index, unsigned first, bool expands) noexcept {
    for (std::size_t i = 0; i < index; ++i) first += component_count(info.rows[i], expands);
    const row_info& row = info.rows[index];
    if (row.masked == mask::with_previous) return {first - 1, 1};
    return {first, component_count(row, expands)};
}
/// Returns the components of the row `index` of a record.
constexpr components components_of(const record_info& info, std::size_t index) noexcept {
    return components_of(info, index, 0, true);
}
/// Returns the components of the row `inner` of the structure in row `index`.
constexpr components components_of(const record_info& info, std::size_t index, std::size_t inner) noexcept {
    const components outer = components_of(info, index);
    const row_info& row = info.rows[index];
    return is_expanded(row) ? components_of(*row.nested, inner, outer.first, false) : outer;
}
/// Returns the component of one element: its own bit, or `all` if the elements have no bits of their own.
constexpr components component_of_element(components all, const row_info& row, unsigned element) noexcept {
    return row.masked == mask::each ? components{all.first + element, 1} : all;
}
/// Returns the bits of a row. For a nested structure these are the bits of its fields, without reserved ranges.
constexpr u64 bits_of_row(const record_info& info, std::size_t index) noexcept {
    const row_info& row = info.rows[index];
    if (!is_expanded(row)) return components_of(info, index).bits();
    u64 bits = 0;
    for (std::size_t i = 0; i < row.nested->rows.size(); ++i)
        if (!row.nested->rows[i].is_reserved) bits |= components_of(info, index, i).bits();
    return bits;
}

/// Returns the index of a member's row in its structure.
template <auto Member> consteval std::size_t row_index() {
    constexpr auto& places = described<owner_of<Member>>::layout.places;
    return flat_count(std::span(places).first(place_index<Member>()));
}

/// Returns the components of a member, or of a member of the nested structure in it.
template <auto Member, auto... Inner> consteval components member_components() {
    static_assert(sizeof...(Inner) <= 1, "components lie one level down at most");
    static_assert((std::is_same_v<value_of<Member>, owner_of<Inner>> && ...), "no member of the nested structure");
    return components_of(info_of<owner_of<Member>>, row_index<Member>(), row_index<Inner>()...);
}
/// Returns the row of the innermost member.
template <auto Member, auto... Inner> consteval const row_info& last_row() {
    if constexpr (sizeof...(Inner) > 0) return last_row<Inner...>();
    else return info_of<owner_of<Member>>.rows[row_index<Member>()];
}

/// Returns the mask bits of a member. Does not compile if it has none.
template <auto Member, auto... Inner> consteval u64 member_bits() {
    constexpr u64 bits = sizeof...(Inner) == 0 ? bits_of_row(info_of<owner_of<Member>>, row_index<Member>())
                                               : member_components<Member, Inner...>().bits();
    static_assert(bits != 0, "field has no bit of a component mask");
    return bits;
}

} // namespace detail

/// The bits of a member of an SA record, or of a member of a nested structure: mask_of<&NodeRecord::nodeInfo,
/// &NodeInfo::nodeGUID>. For an array, the bits of all elements; for a structure, those of its fields.
template <auto Member, auto... Inner> inline constexpr u64 mask_of = detail::member_bits<Member, Inner...>();

/// Returns the bit of one element of an array: its own bit if each element has one, else the bit of the array.
template <auto Member, auto... Inner> constexpr u64 mask_of_element(unsigned element) noexcept {
    static_assert(mask_of<Member, Inner...> != 0);
    return detail::component_of_element(detail::member_components<Member, Inner...>(),
                                        detail::last_row<Member, Inner...>(), element)
        .bits();
}

/// Returns the bits of a field by its dotted name: `DGID`, `nodeInfo.nodeGUID`, `serviceData8[3]`.
/// Errors: unknown_name, also for a field without a bit.
result<u64> component_mask(const record_info& record, std::string_view name);

/// Returns all bits that a component mask of the record may have.
u64 all_components(const record_info& record) noexcept;

/// Returns which bits of the encoded record a mask compares: a bit is 1 if a record must match the query there. Bits
/// of the mask outside all_components() are ignored.
std::vector<u8> compared_bits(const record_info& record, u64 mask);

} // namespace comad::iba
