// SPDX-License-Identifier: MIT
// from_json.hpp - parses JSON into structures, the reverse of json() (print.hpp). It works on tables and bytes, and
// does not depend on any structure.
//
// Keys may have any order. Members that the JSON lacks keep their values in the structure. A value is a number, or a string in
// a form that set_field() (fields.hpp) accepts. Nested structures are objects, arrays are lists. A list sets the whole
// array: elements that the list lacks become zero.
//
// Error messages have one line and name the location: too_short; unreadable, also for text that is not JSON; unknown_name,
// with the valid names, the most similar first; out_of_range.
#pragma once
#include <comad/iba/checked_codec.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace comad::iba {

/// Writes the members of the JSON object `text` into the structure at the start of `bytes`. An error changes nothing.
result<void> set_json(const record_info& info, std::span<u8> bytes, std::string_view text);

/// Returns an encoded structure from JSON. Members that `text` lacks are zero.
inline result<std::vector<u8>> from_json(const record_info& info, std::string_view text) {
    std::vector<u8> bytes(info.bytes);
    if (auto done = set_json(info, bytes, text); !done) return std::move(done).error();
    return bytes;
}

/// Returns a T from JSON. Members that `text` lacks have their values of T{}.
template <wire T> result<T> from_json(std::string_view text) {
    auto bytes = encode(T{});
    if (auto done = set_json(info_of<T>, bytes, text); !done) return std::move(done).error();
    return decode<T>(bytes);
}

} // namespace comad::iba
