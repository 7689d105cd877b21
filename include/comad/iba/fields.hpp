// SPDX-License-Identifier: MIT
// fields.hpp - fields of encoded structures by name and as text, at run time: `nodeInfo.portGUID`, `initialPath[3]`,
// `blocks[1].LMC`. Works over tables and bytes; knows no structure.
//
// Names are those of the table, nested ones behind a dot, elements of arrays in brackets; members of inlined headers have
// no prefix. Reserved ranges are found by their names, `reserved_144`, too. Errors are one line; of a wrong name it lists
// the right ones, the most similar first.
#pragma once
#include <comad/iba/checked.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba {

/// A field of a structure or of one nested in it.
struct field_info {
    std::string name; ///< as find_field() takes it
    row_info row;     ///< with `off` counted from the beginning of the outermost structure
};

/// Every field in wire order, reserved ones too; a nested structure stands before its fields, an array of structures
/// before those of its elements.
std::vector<field_info> fields_of(const record_info& info);

/// What a field holds, for people: `integer`, `enumeration`, `GUID`, `GID`, `GID prefix`, `text`, `bytes`, `structure`.
std::string_view kind_of(const row_info& row) noexcept;

/// The row of a field, with `off` counted from the beginning of `info`; of an element, with a count of 1.
/// Errors: unknown_name.
result<row_info> find_field(const record_info& info, std::string_view name);

/// A field of the structure at the beginning of `bytes` as text: as dotted() shows it, but text is neither quoted nor
/// escaped (whoever prints it must, text.hpp), and an array is `[1, 2, 3]`.
/// Errors: unknown_name, also for a structure as a whole; too_short.
result<std::string> get_field(const record_info& info, std::span<const u8> bytes, std::string_view name);

/// Writes a field of the structure at the beginning of `bytes`; every other bit keeps its value, and so does all on an
/// error. What get_field() gives is taken, and more:
///   integers        decimal or 0x
///   enumerations    the name or the number
///   GUIDs           0017:77ff:feb6:2ca4, zeros in front of a group left out or not; sixteen hex digits; 0x
///   GIDs            an IPv6 address
///   GID prefixes    fe80::/64, fe80::, or a number
///   text            as it is; what is left of the field becomes zero
///   bytes, text     0x and two digits for each byte of the field
///   arrays          [1, 2, 3] or 1,2,3; elements that are not given become zero; of bytes also as bytes
/// Errors: unknown_name, unreadable, out_of_range, too_short.
result<void> set_field(const record_info& info, std::span<u8> bytes, std::string_view name, std::string_view text);

template <wire T> result<std::string> get_field(const T& value, std::string_view name) {
    return get_field(info_of<T>, encode(value), name);
}
/// Errors: also out_of_range if `value` does not fit as it is.
template <wire T> result<void> set_field(T& value, std::string_view name, std::string_view text) {
    auto bytes = encode_checked(value);
    if (!bytes) return std::move(bytes).error();
    if (auto done = set_field(info_of<T>, bytes.value(), name, text); !done) return done;
    decode(value, bytes.value().data());
    return boost::outcome_v2::success();
}

/// `nodeInfo.portGUID=0017:77ff:feb6:2ca4`, as command lines have it, in two.
struct assignment {
    std::string_view name;
    std::string_view text; ///< may contain a `=`
};
/// Errors: unreadable, if there is no `=`.
result<assignment> parse_assignment(std::string_view text);

} // namespace comad::iba
