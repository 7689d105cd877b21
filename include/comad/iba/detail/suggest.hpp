// SPDX-License-Identifier: MIT
// suggest.hpp - right names for a wrong one. Knows no structure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba {

/// The right names as `a, b, c`: first those that contain the wrong one, then those that take the fewest insertions,
/// deletions and changes of characters, whether capital or not; among equals in their own order.
std::string most_similar_first(std::string_view wrong, std::vector<std::string_view> right);
/// How many names a message suggests.
inline constexpr std::size_t most_suggestions = 3;
/// The same, but only the first `most`.
std::string most_similar(std::string_view wrong, std::vector<std::string_view> right,
                         std::size_t most = most_suggestions);

} // namespace comad::iba
