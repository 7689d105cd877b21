// SPDX-License-Identifier: MIT
// suggest_names.hpp - suggests valid names for a wrong one.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba {

/// Returns the valid names as `a, b, c`: first those that contain the wrong name, then those with the fewest
/// insertions, deletions and replacements of characters. Letter case does not matter. Equally similar names keep their
/// order.
std::string most_similar_first(std::string_view wrong, std::vector<std::string_view> right);
/// The number of names that a message suggests.
inline constexpr std::size_t most_suggestions = 3;
/// Returns only the first `most` names of most_similar_first().
std::string most_similar(std::string_view wrong, std::vector<std::string_view> right,
                         std::size_t most = most_suggestions);

} // namespace comad::iba
