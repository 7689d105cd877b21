// SPDX-License-Identifier: MIT
// csv.hpp - fields of CSV (RFC 4180). Does not depend on a table.
#pragma once
#include <comad/iba/detail/text.hpp>

#include <string>
#include <string_view>

namespace ibtool {

/// Returns a text as a quoted field, safe for a terminal. If a spreadsheet could read the text as a formula, the field starts with an
/// apostrophe, which makes it a text there.
inline std::string csv_field(std::string_view raw) {
    const std::string text = comad::iba::escaped(raw);
    std::string quoted = "\"";
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += '\'';
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace ibtool
