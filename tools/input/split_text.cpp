// SPDX-License-Identifier: MIT
// split_text.cpp - wraps Boost's string algorithms, whose headers are too slow to include in more than one file.
#include "input/split_text.hpp"

#include <boost/algorithm/string.hpp>

#include <iterator>
#include <sstream>

namespace ibtool {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    boost::algorithm::split(parts, text, [separator](char c) { return c == separator; });
    return parts;
}

std::vector<std::string> uncommented_words(std::string_view line) {
    std::istringstream words(std::string(line.substr(0, line.find('#'))));
    return {std::istream_iterator<std::string>(words), {}};
}

std::string trimmed(std::string_view text) {
    return boost::algorithm::trim_copy(std::string(text), std::locale::classic());
}

std::string to_lower(std::string_view text) {
    return boost::algorithm::to_lower_copy(std::string(text), std::locale::classic());
}

} // namespace ibtool
