// SPDX-License-Identifier: MIT
// words.hpp - texts taken apart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The parts between the separators; one more than there are of these.
std::vector<std::string> split(std::string_view text, char separator);

/// Without white space at both ends.
std::string trimmed(std::string_view text);

/// With ASCII's capital letters as small ones.
std::string to_lower(std::string_view text);

} // namespace ibtool
