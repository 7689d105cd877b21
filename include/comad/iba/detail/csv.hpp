// SPDX-License-Identifier: MIT
// csv.hpp - fields of CSV (RFC 4180). Does not depend on columns.
#pragma once
#include <string>
#include <string_view>

namespace comad::iba::detail {

/// Returns a quoted field of CSV. If a spreadsheet could read the text as a formula, the field starts with an apostrophe, which makes it
/// a text there. `text`: without control characters (escaped()).
inline std::string csv_field(std::string_view text) {
    std::string quoted = "\"";
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += '\'';
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace comad::iba::detail
