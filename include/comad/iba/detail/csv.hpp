// SPDX-License-Identifier: MIT
// csv.hpp - writes a text as a field of CSV (RFC 4180) that is safe for spreadsheets. Everything that writes CSV uses it.
#pragma once
#include <comad/iba/detail/text.hpp>

#include <string>
#include <string_view>

namespace comad::iba {

/// Returns a text from the network as a quoted field of CSV. Quotes are doubled, and characters that escaped() replaces are `\xNN`. If a
/// spreadsheet could read the text as a formula because of its first character, the field starts with an apostrophe, which makes it a
/// text there.
inline std::string csv_text(std::string_view raw) {
    const std::string text = escaped(raw);
    std::string quoted = "\"";
    if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += '\'';
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

} // namespace comad::iba
