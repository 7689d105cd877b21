// SPDX-License-Identifier: MIT
// checked_codec.hpp - decode and encode with checks: they return an error for too few bytes, or for values wider than their
// fields. It does not depend on any structure of the IBA.
#pragma once
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/detail/error.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace comad::iba {

namespace detail {

/// Returns the bits of a structure's values that do not fit their fields, combined.
template <wire T> constexpr u64 excess_of(const T& in) noexcept;

/// Returns the bits of a value that do not fit its field; for arrays and structures, those of all elements combined.
template <unsigned Width, class V> constexpr u64 excess(const V& v) noexcept {
    using parts = elements<V>;
    using element = typename parts::type;
    if constexpr (wire<V>) {
        return excess_of(v);
    } else if constexpr (is_array<V>) {
        constexpr unsigned width = Width / parts::count;
        u64 all = 0;
        if constexpr (wire<element> || width < sizeof(element) * 8)
            for (const element& e : v) all |= excess<width>(e);
        return all;
    } else if constexpr (!std::is_same_v<V, bool> && Width < sizeof(V) * 8) {
        return static_cast<u64>(v) >> Width;
    } else {
        return 0;
    }
}

/// Returns the excess bits of all rows, combined.
template <class T, unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
constexpr u64 excess_of_rows(const record<Bytes, field<Member, Off, Width>...>&,
                             [[maybe_unused]] const T& in) noexcept {
    return (excess<Width>(in.*Member) | ... | u64{0});
}

template <wire T> constexpr u64 excess_of(const T& in) noexcept { return excess_of_rows(described<T>::layout, in); }

/// A value that is wider than its field, and the path of the field: `.blocks[1].LMC`.
struct invalid_value {
    std::string path;
    u64 value = 0;
    unsigned width = 0;
};
/// Return `inside` with the name of the field, header or element that contains it.
invalid_value in_field(std::string_view name, invalid_value inside);
invalid_value in_header(invalid_value inside);
invalid_value in_element(std::size_t index, invalid_value inside);
/// Returns the out_of_range error for a value that does not fit.
error range_error(const record_info& info, const invalid_value& found);
/// Returns the too_short error for `size` bytes.
error size_error(const record_info& info, std::size_t size);

template <wire T> invalid_value invalid_value_of(const T& in);

/// Returns the first value of a member that does not fit. Precondition: one does not fit.
template <unsigned Width, class V> invalid_value invalid_value_in(const V& v) {
    using parts = elements<V>;
    if constexpr (wire<V>) {
        return invalid_value_of(v);
    } else if constexpr (is_array<V>) {
        constexpr unsigned width = Width / parts::count;
        std::size_t i = 0;
        while (i + 1 < parts::count && !excess<width>(v[i])) ++i;
        return in_element(i, invalid_value_in<width>(v[i]));
    } else if constexpr (is_gid<V>) {
        return {}; // always fits
    } else {
        return {{}, static_cast<u64>(v), Width};
    }
}

/// Stores the first value of a member that does not fit; returns false if all values fit.
template <unsigned Width, class V> bool find_misfit(invalid_value& found, const V& v, std::string_view name) {
    if (!excess<Width>(v)) return false;
    found = invalid_value_in<Width>(v);
    found = name.empty() ? in_header(std::move(found)) : in_field(name, std::move(found));
    return true;
}

/// Returns the first value of the rows that does not fit. Precondition: one does not fit.
template <class T, unsigned Bytes, auto... Member, unsigned... Off, unsigned... Width>
invalid_value misfit_in_rows(const record<Bytes, field<Member, Off, Width>...>&, [[maybe_unused]] const T& in) {
    invalid_value found;
    [[maybe_unused]] const auto* row = info_of<T>.rows.data();
    [[maybe_unused]] const auto name_of_next = [&](const row_position& where) -> std::string_view {
        if (!where.is_header) return row++->name;
        row += flat_count(*where.member->nested);
        return {};
    };
    (void)(find_misfit<Width>(found, in.*Member, name_of_next(position_of(Off, Width, facts_of<value_of<Member>>))) ||
           ...);
    return found;
}

/// Returns the first value of `in` that does not fit. Precondition: one does not fit.
template <wire T> invalid_value invalid_value_of(const T& in) { return misfit_in_rows(described<T>::layout, in); }

} // namespace detail

/// Returns true if every value fits its field, so that encode() loses no bits. The check costs nothing if members are
/// as wide as their fields.
template <wire T> constexpr bool fits(const T& value) noexcept { return detail::excess_of(value) == 0; }

/// Returns why `value` does not fit: `SMPPortInfo.LMC is 9, but has 3 bits`. Precondition: !fits(value).
template <wire T> error range_error(const T& value) {
    return detail::range_error(info_of<T>, detail::invalid_value_of(value));
}

/// Returns the structure at the start of `bytes`. Further bytes are ignored.
/// Errors: too_short, `SMPNodeInfo needs 40 bytes, there are 12`.
template <wire T> result<T> decode_checked(std::span<const u8> bytes) {
    if (bytes.size() < wire_size<T>) return detail::size_error(info_of<T>, bytes.size());
    T out{};
    decode(out, bytes.data());
    return out;
}

/// Returns the encoded structure. Errors: out_of_range, with the first value that does not fit.
template <wire T> result<std::array<u8, wire_size<T>>> encode_checked(const T& value) {
    if (!fits(value)) return range_error(value);
    return encode(value);
}

} // namespace comad::iba
