// SPDX-License-Identifier: MIT
// text_file.hpp - files that a user names, read or refused in one line.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace comad::iba {

/// Of a text file that is read; larger ones are refused.
inline constexpr std::size_t most_text = std::size_t{256} << 20;

/// What a file holds, to be read as a stream. Throws std::runtime_error with one line, `cannot read 'name': No such file or
/// directory`, where it cannot be opened or read, is a directory, is larger than most_text, or has a NUL in it and so is
/// no text. The name is escaped.
std::istringstream open_text_file(const std::string& name);

/// The same of a file that is open. Throws std::runtime_error with the reason alone.
std::string text_in(int descriptor);

/// `cannot read 'name': No such file or directory`, by errno; the name is escaped.
std::runtime_error cannot_read(const std::string& name);

} // namespace comad::iba
