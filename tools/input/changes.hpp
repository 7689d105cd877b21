// SPDX-License-Identifier: MIT
// changes.hpp - fields by name and text, written into a structure that somebody holds: what is sent back to change only these.
// Knows no target and no command.
#pragma once
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// Writes `NAME=VALUE` to the structure, as iba::set_field() does. Throws usage_error with one line.
void assign(const comad::iba::record_info&, std::span<comad::u8> bytes, const std::string& field);

/// What a Set sends to a node that holds `now` so that only `fields` change: the rest as it is, but that those whose 0 says "no
/// change" are 0 unless they are named. What they tell is a state, and told back it would be an order: a port that trains just
/// now would be told to stay so.
/// Throws what assign() throws.
std::vector<comad::u8> changed(const comad::iba::record_info&, std::span<const comad::u8> now,
                               const std::vector<std::string>& fields);

/// The same of a structure.
template <class T> T with_fields(const T& now, const std::vector<std::string>& fields) {
    const auto bytes = changed(comad::iba::info_of<T>, comad::iba::encode(now), fields);
    T value;
    comad::iba::decode(value, bytes.data());
    return value;
}

} // namespace ibtool
