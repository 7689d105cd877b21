// SPDX-License-Identifier: MIT
// name_pattern.cpp - matches names with std::regex.
#include "input/name_pattern.hpp"

#include "input/options.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <regex>

namespace ibtool {

name_pattern read_name_pattern(const std::string& option, const std::string& text) {
    if (text.empty()) return {};
    try {
        return [pattern = std::regex(text)](const std::string& name) { return std::regex_search(name, pattern); };
    } catch (const std::regex_error&) {
        throw usage_error(fmt::format("{}: {} is not a valid regular expression; use ECMAScript syntax, with \\ before "
                                      "characters such as ( and [",
                                      option, comad::iba::as_given(text)));
    }
}

} // namespace ibtool
