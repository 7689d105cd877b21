// SPDX-License-Identifier: MIT
// name_pattern.hpp - regular expressions for names. Only name_pattern.cpp includes the library for them.
#pragma once
#include <functional>
#include <string>

namespace ibtool {

/// Returns whether the expression (ECMAScript syntax, std::regex, case-sensitive) matches any part of a name.
using name_pattern = std::function<bool(const std::string&)>;

/// Compiles an expression; an empty text gives an empty function. Throws usage_error, which names the option, if `text` is not a regular
/// expression.
name_pattern read_name_pattern(const std::string& option, const std::string& text);

} // namespace ibtool
