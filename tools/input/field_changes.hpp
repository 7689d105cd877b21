// SPDX-License-Identifier: MIT
// field_changes.hpp - changes fields of a structure by name and text, for a Set that changes only these fields. Does not depend on a target
// or a command.
#pragma once
#include <comad/iba/detail/wire.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// Stores `NAME=VALUE` in the structure, as iba::set_field() does. Throws usage_error with one line.
void assign(const comad::iba::record_info&, std::span<comad::u8> bytes, const std::string& field);

/// Returns the payload of a Set that changes only `fields` of a node that reports `now`. Other fields keep their values, except fields
/// for which 0 means "no change": these are 0 unless they are named. They report a state, but a Set of this state would be a command. For
/// example, a port that is just training would be ordered to stay in this state.
/// Throws as assign() does.
std::vector<comad::u8> changed(const comad::iba::record_info&, std::span<const comad::u8> now,
                               const std::vector<std::string>& fields);

/// Returns a copy of a structure with changed fields, as changed() does.
template <class T> T with_fields(const T& now, const std::vector<std::string>& fields) {
    const auto bytes = changed(comad::iba::info_of<T>, comad::iba::encode(now), fields);
    T value;
    comad::iba::decode(value, bytes.data());
    return value;
}

} // namespace ibtool
