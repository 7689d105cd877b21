// SPDX-License-Identifier: MIT
// description.hpp - NodeDescriptions as text files have them. Knows no line.
#pragma once
#include <string>
#include <string_view>

namespace comad::topology_file {

/// The bytes that iba::escaped() wrote as `text`, if it did; else the text itself. At most 64 bytes, as NodeDescription has.
std::string description_of(std::string_view text);

} // namespace comad::topology_file
