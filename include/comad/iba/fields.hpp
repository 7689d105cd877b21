// SPDX-License-Identifier: MIT
// fields.hpp - access to fields of encoded structures by name and as text, at run time: `nodeInfo.portGUID`,
// `initialPath[3]`, `blocks[1].LMC`. It works on tables and bytes, and does not depend on any structure.
//
// Names come from the table. A dot precedes the name of a nested field, brackets contain the index of an array element, and
// members of inlined headers have no prefix. Reserved ranges have names, too, such as `reserved_144`. Error messages have one
// line; the message for a wrong name lists the valid names, the most similar first.
#pragma once
#include <comad/iba/checked_codec.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba {

/// A field of a structure or of a structure nested in it.
struct field_info {
    std::string name; ///< name of the field, as find_field() accepts it
    row_info row;     ///< row of the field, with `off` counted from the start of the outermost structure
};

/// Returns every field in wire order, including reserved ones. A nested structure precedes its fields, and an array of
/// structures precedes the fields of its elements.
std::vector<field_info> fields_of(const record_info& info);

/// Returns the kind of value of a field, for messages: `integer`, `enumeration`, `GUID`, `GID`, `GID prefix`, `text`,
/// `bytes`, `structure`.
std::string_view kind_of(const row_info& row) noexcept;

/// Returns the row of a field, with `off` counted from the start of `info`. The row of an array element has a count of
/// 1.
/// Errors: unknown_name.
result<row_info> find_field(const record_info& info, std::string_view name);

/// Returns a field of the structure at the start of `bytes` as text. The text is the text of dotted(), but without quotes
/// and escapes, and an array is `[1, 2, 3]`. Callers that print the text must escape it (text.hpp).
/// Errors: unknown_name, also for a structure as a whole; too_short.
result<std::string> get_field(const record_info& info, std::span<const u8> bytes, std::string_view name);

/// Writes a field of the structure at the start of `bytes`. All other bits keep their values. After an error, all bits
/// keep their values. The text may be the output of get_field() or one of these forms:
///   integers        decimal or 0x
///   enumerations    the name or the number
///   GUIDs           0017:77ff:feb6:2ca4, leading zeros of a group are optional; sixteen hex digits; 0x
///   GIDs            an IPv6 address
///   GID prefixes    fe80::/64, fe80::, or a number
///   text            the text itself; the rest of the field becomes zero
///   bytes, text     0x and two digits for each byte of the field
///   arrays          [1, 2, 3] or 1,2,3; missing elements become zero; arrays of bytes also in the form of bytes
/// Errors: unknown_name, unreadable, out_of_range, too_short.
result<void> set_field(const record_info& info, std::span<u8> bytes, std::string_view name, std::string_view text);

/// Returns a field of a decoded structure as text. Errors: as get_field() of encoded bytes.
template <wire T> result<std::string> get_field(const T& value, std::string_view name) {
    return get_field(info_of<T>, encode(value), name);
}
/// Writes a field of a decoded structure. Errors: as set_field() of encoded bytes; out_of_range even if a value in
/// `value` does not fit its field.
template <wire T> result<void> set_field(T& value, std::string_view name, std::string_view text) {
    auto bytes = encode_checked(value);
    if (!bytes) return std::move(bytes).error();
    if (auto done = set_field(info_of<T>, bytes.value(), name, text); !done) return done;
    decode(value, bytes.value().data());
    return boost::outcome_v2::success();
}

/// An assignment as on command lines, such as `nodeInfo.portGUID=0017:77ff:feb6:2ca4`, split into name and text.
struct assignment {
    std::string_view name;
    std::string_view text; ///< the text after the first `=`; may contain a `=`
};
/// Splits an assignment. Errors: unreadable, if the text contains no `=`.
result<assignment> parse_assignment(std::string_view text);

} // namespace comad::iba
