// SPDX-License-Identifier: MIT
// file_replacement.hpp - replaces a file by a new text, completely or not at all. Does not depend on the text.
#pragma once
#include <string>
#include <string_view>

namespace ibtool {

/// Writes the text to a file, as write_output() (text/output.hpp) describes.
/// Errors: std::runtime_error with one line.
void write_file(std::string_view text, const std::string& file);

} // namespace ibtool
