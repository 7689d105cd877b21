// SPDX-License-Identifier: MIT
// compare_structures.hpp - order, equality and differences of structures, by their tables. It does not depend on any structure.
#pragma once
#include <comad/iba/detail/wire.hpp>

#include <algorithm>
#include <compare>
#include <string>
#include <vector>

namespace comad::iba {

/// Orders two structures as memcmp() orders their encoded bytes: field by field in wire order, each as an unsigned
/// number. It compares only the bits of a value that fit its field.
template <wire T> constexpr std::strong_ordering compare(const T& a, const T& b) noexcept {
    const auto x = encode(a);
    const auto y = encode(b);
    return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
}

/// Returns true if both structures have the same encoded bytes.
template <wire T> constexpr bool equal(const T& a, const T& b) noexcept { return encode(a) == encode(b); }

/// Returns the names of the fields that differ between two encoded structures, in wire order: `portState`, for an
/// array the element `initialPath[3]`, for a nested structure `nodeInfo.nodeGUID`. Reserved bits are not compared. `a`
/// and `b` each have info.bytes bytes.
std::vector<std::string> differences(const record_info& info, const u8* a, const u8* b);

/// Returns the names of the fields that differ between two decoded structures.
template <wire T> std::vector<std::string> differences(const T& a, const T& b) {
    return differences(info_of<T>, encode(a).data(), encode(b).data());
}

} // namespace comad::iba
