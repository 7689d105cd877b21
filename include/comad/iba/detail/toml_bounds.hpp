// SPDX-License-Identifier: MIT
// toml_bounds.hpp - limits the size and the nesting of a settings file before it is parsed.
#pragma once
#include <string>
#include <string_view>

namespace comad::iba {

/// Limits the size of the text, and the dots in a line: the TOML parser, and the destructor of its tables, recurse once for each part of a
/// dotted key. `file`: its name, `what`: what it is, for messages.
/// Errors: std::runtime_error with one line.
void require_toml_bounds(std::string_view text, const std::string& file, std::string_view what);

} // namespace comad::iba
