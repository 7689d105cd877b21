// SPDX-License-Identifier: MIT
// text_file.hpp - files that a user names, opened to be read or refused in one line.
#pragma once
#include <fstream>
#include <stdexcept>
#include <string>

namespace comad::iba {

/// Opens it to read. Throws cannot_read(): also of a directory, which would read as an empty file.
std::ifstream open_text_file(const std::string& name);

/// `cannot read 'name': No such file or directory`, by errno; the name is escaped.
std::runtime_error cannot_read(const std::string& name);

} // namespace comad::iba
