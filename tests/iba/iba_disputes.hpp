// SPDX-License-Identifier: MIT
// iba_disputes.hpp - where tables follow other sources than the facts in data/, and which sources. Knows no values.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// What the facts have and the table lacks with a minus, the other way round with a plus.
struct dispute {
    std::string_view source; ///< that agrees with the table, or the reason
    std::vector<std::string> differences;
};
using disputes = std::map<std::string, dispute, std::less<>>; // by name of the structure

/// `- QKey 64/32 hex`: name, first bit, width, display of a row.
const disputes& layout_disputes();
/// `- position 2`: name and bit of the component mask.
const disputes& mask_disputes();

/// True if the facts and the table of the structure do not agree on a row with this name.
bool is_disputed(std::string_view structure, std::string_view row);
