// SPDX-License-Identifier: MIT
// compare.hpp - order, equality and differences of structures, derived from their tables. Knows no structure.
#pragma once
#include <comad/iba/detail/wire.hpp>

#include <algorithm>
#include <compare>
#include <string>
#include <vector>

namespace comad::iba {

/// Orders two structures as memcmp() orders their bytes on the wire: field by field in wire order, each as an unsigned
/// number, and only as many bits of a value as its field has.
template <wire T> constexpr std::strong_ordering compare(const T& a, const T& b) noexcept {
    const auto x = encode(a);
    const auto y = encode(b);
    return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
}

/// True if both are the same bytes on the wire.
template <wire T> constexpr bool equal(const T& a, const T& b) noexcept { return encode(a) == encode(b); }

/// The names of the fields that differ between two encoded structures, in wire order: `portState`, of an array the
/// element `initialPath[3]`, of a nested structure `nodeInfo.nodeGUID`. Reserved bits are not compared.
/// Each of `a` and `b` has info.bytes bytes.
std::vector<std::string> differences(const record_info& info, const u8* a, const u8* b);

template <wire T> std::vector<std::string> differences(const T& a, const T& b) {
    return differences(info_of<T>, encode(a).data(), encode(b).data());
}

} // namespace comad::iba
