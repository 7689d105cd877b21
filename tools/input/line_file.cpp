// SPDX-License-Identifier: MIT
// line_file.cpp - reads the significant lines of a file, with their line numbers.
#include "input/line_file.hpp"

#include "input/split_text.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <istream>
#include <stdexcept>

namespace ibtool {

void read_lines(const std::string& file, const char* form, const std::function<bool(std::string_view)>& take) {
    std::istringstream in = comad::iba::open_text_file(file);
    std::string line;
    for (unsigned number = 1; std::getline(in, line); ++number) {
        const std::string text = trimmed(line);
        if (!text.empty() && text.front() != '#' && !take(text))
            throw std::runtime_error(fmt::format("{}:{}: expected {}", comad::iba::escaped(file), number, form));
    }
}

} // namespace ibtool
