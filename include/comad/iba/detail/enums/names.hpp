// SPDX-License-Identifier: MIT
// names.hpp - numbers of enumerators, names of numbers and names of bits. Values come from the network: an enumeration
// may contain any number, and every printer must handle it.
#pragma once
#include <comad/iba/detail/table.hpp>
#include <comad/iba/detail/text_formatter.hpp>
#include <comad/iba/types.hpp>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace comad::iba {

/// Returns the number of an enumerator.
template <class E>
    requires std::is_enum_v<E>
constexpr auto value(E e) noexcept {
    return static_cast<std::underlying_type_t<E>>(e);
}

/// Returns the name of `number` in `names`, or an empty string.
constexpr std::string_view find_name(std::span<const enum_name> names, u64 number) noexcept {
    for (const enum_name& n : names)
        if (n.value == number) return n.name;
    return {};
}

/// Returns the name, or `?? 7` for a number without a name.
std::string name_or_number(std::span<const enum_name> names, u64 number);
/// Returns the name of an enumerator, or `?? 7` for a number without a name.
template <class E>
    requires std::is_enum_v<E>
auto name_or_number(E e) {
    static_assert(!names_of<E>.empty(), "enumeration has no names_of");
    return name_or_number(names_of<E>, static_cast<u64>(e));
}

/// Returns the names of the bits in `set`, lowest first: `1x, 4x`. All bits without a name are combined as `?? 0x60`.
/// `none` if no bit is set. Names of several bits, or of 0, are not used.
std::string bits_text(std::span<const enum_name> names, u64 set);
/// Returns the names of a set of enumerators of E.
template <class E>
    requires std::is_enum_v<E>
auto bits_text(u64 set) {
    static_assert(!names_of<E>.empty(), "enumeration has no names_of");
    return bits_text(names_of<E>, set);
}

/// An enumeration whose values have names.
template <class E>
concept named_enumeration = std::is_enum_v<E> && !names_of<E>.empty();

namespace detail {

/// Formats a number by its name; a number without a name as name_or_number() does.
class name_formatter : public text_formatter {
protected:
    fmt::format_context::iterator format_name(std::span<const enum_name> names, u64 number,
                                              fmt::format_context& context) const;
};

} // namespace detail

} // namespace comad::iba

/// Formats an enumerator by its name, `Active`, or `?? 7` for a number without a name; takes the format specification
/// of a string.
template <comad::iba::named_enumeration E> struct fmt::formatter<E> : comad::iba::detail::name_formatter {
    format_context::iterator format(E e, format_context& context) const {
        return format_name(comad::iba::names_of<E>, static_cast<comad::u64>(e), context);
    }
};
