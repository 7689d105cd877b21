// SPDX-License-Identifier: MIT
// line_file.hpp - reads a text file in which all lines have one format.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace ibtool {

/// Calls `take` for each line without white space at its ends, except for empty lines and lines that start with `#`. `take` returns false
/// if the line has another format.
/// Errors: throws std::runtime_error with one line, `FILE:7: expected FORM`, or if the file cannot be read.
void read_lines(const std::string& file, const char* form, const std::function<bool(std::string_view)>& take);

} // namespace ibtool
