// SPDX-License-Identifier: MIT
// from_json.hpp - JSON read into structures: the way back from json() (print.hpp). Works over tables and bytes; knows no
// structure.
//
// Keys may stand in any order; of a key that is missing the structure keeps what it has. A value is a number, or a string
// as set_field() (fields.hpp) takes it; nested structures are objects, arrays are lists. An array that is given is given
// whole: elements that the list does not have become zero.
//
// Errors are one line and name the place: too_short; unreadable, also for what is no JSON; unknown_name, with the right
// ones, the most similar first; out_of_range.
#pragma once
#include <comad/iba/checked.hpp>
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace comad::iba {

/// Changes the structure at the beginning of `bytes` to what the JSON object `text` says; nothing on an error.
result<void> set_json(const record_info& info, std::span<u8> bytes, std::string_view text);

/// A structure of which everything that is not in `text` is zero.
inline result<std::vector<u8>> from_json(const record_info& info, std::string_view text) {
    std::vector<u8> bytes(info.bytes);
    if (auto done = set_json(info, bytes, text); !done) return std::move(done).error();
    return bytes;
}

/// A T of which everything that is not in `text` is as in T{}.
template <wire T> result<T> from_json(std::string_view text) {
    auto bytes = encode(T{});
    if (auto done = set_json(info_of<T>, bytes, text); !done) return std::move(done).error();
    return decode<T>(bytes);
}

} // namespace comad::iba
