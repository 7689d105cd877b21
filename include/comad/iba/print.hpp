// SPDX-License-Identifier: MIT
// print.hpp - prints structures as text: lines with dots, JSON, annotated dump. It works on tables and bytes at run
// time, so one compiled printer serves every structure. It does not depend on any structure.
//
// Bytes may be incomplete: the printers omit a field that is not entirely within the bytes.
// `data` is the table of the attribute in a format's data area. If it is null, or larger than the area, the area is printed as bytes.
// The printers show the details of a notice as the structure of its trap, or as bytes if the trap is unknown.
#pragma once
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>

namespace comad::iba {

/// Options of dotted().
struct dotted_options {
    unsigned column = 33;      ///< column of the values; a longer name moves its own value
    bool colon = false;        ///< `LID:.....7` instead of `LID......7`
    bool skip_reserved = true; ///< omit reserved bits
    bool list = false;         ///< print each element of every array on its own line; false: only elements wider than
                               ///< 16 bits
    key_display keys =
        key_display::shown; ///< whether keys are shown; a hidden key is `<not displayed>`, as in smpquery of
                            ///< infiniband-diags
};

/// Returns one line per field, similar to the printers of libibmad: `LID..............................7`. The first
/// letter of a name is a capital; fields of nested structures have a path (`data.NodeType`). Numbers are decimal, or
/// 0x with all digits if the table requires it. Enumerations are printed by name. Text is quoted and escaped() for
/// terminals.
std::string dotted(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr,
                   const dotted_options& = {});

/// The styles of json().
enum class json_style : u8 {
    readable, ///< text is converted by valid_utf8(), every array is a list, and reserved bits are omitted
    exact,    ///< nothing is lost: text, byte arrays and details of notices are `0x` in wire order, and reserved
              ///< members are included
};

/// Returns one JSON object on one line of ASCII. Keys are the names of the table, in wire order. Nested structures are
/// nested objects, arrays are lists. Values of up to 32 bits are numbers, including enumerations; wider fields are
/// strings, `0x` with all digits. A GUID is `"0017:77ff:feb6:2ca4"`, a GID `"fe80::17:77ff:feb6:2ca4"`, opaque bytes
/// are `0x` in wire order.
/// from_json() (from_json.hpp) is the reverse; from json_style::exact it restores the same bytes.
/// Hidden keys are omitted.
std::string json(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr,
                 json_style = json_style::readable, key_display = key_display::shown);

/// Returns one line for every 32-bit word: offset, eight hex digits, and the fields that start in the word, with their
/// decimal values. Reserved bits are included; trailing zero words in which no field starts are omitted. Lines with
/// the name of a nested structure mark its start and end. A word that two structures share is printed in both.
std::string dump(const record_info& info, std::span<const u8> bytes, const record_info* data = nullptr);

/// Returns the dump() of a MAD and its attribute, by the MAD header. If the class is unknown, or the MAD is shorter
/// than a header, the dump contains only words.
std::string dump_mad(std::span<const u8> mad);

/// Returns dotted() of a decoded structure.
template <wire T> std::string dotted(const T& value, const dotted_options& options = {}) {
    return dotted(info_of<T>, encode(value), nullptr, options);
}
/// Returns json() of a decoded structure.
template <wire T>
std::string json(const T& value, json_style style = json_style::readable, key_display keys = key_display::shown) {
    return json(info_of<T>, encode(value), nullptr, style, keys);
}
/// Returns dump() of a decoded structure.
template <wire T> std::string dump(const T& value) { return dump(info_of<T>, encode(value)); }

} // namespace comad::iba
