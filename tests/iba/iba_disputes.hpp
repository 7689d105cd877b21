// SPDX-License-Identifier: MIT
// iba_disputes.hpp - lists the rows where tables differ from the files in data/, with the sources that they follow. It
// contains no values.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A difference: minus for a row that only the data file has, plus for a row that only the table has.
struct dispute {
    std::string_view source; ///< source that agrees with the table, or the reason
    std::vector<std::string> differences;
};
/// The disputes by the name of the structure.
using disputes = std::map<std::string, dispute, std::less<>>;

/// Returns the differences in layouts. A line is `- QKey 64/32 hex`: name, first bit, width and display format of a row.
const disputes& layout_disputes();
/// Returns the differences in component masks. A line is `- position 2`: name and bit of the component mask.
const disputes& mask_disputes();

/// Returns true if the data file and the table of the structure do not agree on a row with this name.
bool is_disputed(std::string_view structure, std::string_view row);
