// SPDX-License-Identifier: MIT
// lines.hpp - a text file of lines of one form.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace ibtool {

/// Gives `take` each line without white space at its ends, but for empty ones and those that begin with `#`. It returns false of
/// what is no line of that form. Throws std::runtime_error with one line, `FILE:7: expected FORM`, for it, and where the file cannot
/// be read.
void read_lines(const std::string& file, const char* form, const std::function<bool(std::string_view)>& take);

} // namespace ibtool
