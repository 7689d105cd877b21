// SPDX-License-Identifier: MIT
// print.hpp - structures as text: dotted lines, JSON, annotated dump. Works over tables and bytes at run time, so that
// one compiled printer serves every structure; knows none of them.
//
// Bytes come from anywhere: a field that is not wholly within them is left out.
// `data` is the table of the attribute in a format's data area; null, or larger than the area: it is shown as bytes.
// The details of a notice are shown as the structure of its trap, unless that is unknown.
#pragma once
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>

namespace comad::iba {

/// How dotted() looks.
struct dotted_options {
    unsigned column = 33;      ///< where values begin; a longer name moves its own
    bool colon = false;        ///< `LID:.....7` instead of `LID......7`
    bool skip_reserved = true; ///< reserved bits are not shown
    bool list = false;         ///< every element of an array in a line of its own; else only those above 16 bits
    key_display keys =
        key_display::shown; ///< a key that is hidden is `<not displayed>`, as infiniband-diags' smpquery has it
};

/// One field per line, much as libibmad's printers look: `LID..............................7`. The first letter is a
/// capital; fields of nested structures have the path in front (`data.NodeType`). Numbers are decimal or, where the
/// table says so, 0x with all digits; enumerations by name; text quoted and escaped() for terminals.
std::string dotted(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr,
                   const dotted_options& = {});

/// What json() writes.
enum class json_style : u8 {
    readable, ///< text by valid_utf8(), an array as a list whatever its elements; reserved bits are not shown
    exact,    ///< nothing is lost: text, arrays of bytes and details of notices are `0x` in wire order, reserved
              ///< members are shown
};

/// One JSON object in one line of ASCII; keys are the names of the table, in wire order, nested structures nest, arrays are
/// lists. Up to 32 bits are numbers, enumerations too; wider fields are strings, `0x` with all digits; a GUID is
/// `"0017:77ff:feb6:2ca4"`, a GID `"fe80::17:77ff:feb6:2ca4"`, opaque bytes are `0x` in wire order.
/// from_json() (from_json.hpp) is the way back; of json_style::exact to the same bytes.
/// A key that is hidden is no member.
std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr,
                 json_style = json_style::readable, key_display = key_display::shown);

/// Every 32-bit word in a line: offset, eight hex digits, and the fields that begin in it with their decimal values.
/// Reserved bits are shown; zero words at the end in which nothing begins are not. Structures inside are fenced by lines
/// with their name; a word that two of them share stands in both.
std::string dump(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr);

/// dump() of a MAD by its header, attribute included; if its class is unknown or it is too short for a header, only
/// words.
std::string dump_mad(std::span<const u8> mad);

template <wire T> std::string dotted(const T& value, const dotted_options& options = {}) {
    return dotted(info_of<T>, encode(value), nullptr, options);
}
template <wire T>
std::string json(const T& value, json_style style = json_style::readable, key_display keys = key_display::shown) {
    return json(info_of<T>, encode(value), nullptr, style, keys);
}
template <wire T> std::string dump(const T& value) { return dump(info_of<T>, encode(value)); }

} // namespace comad::iba
