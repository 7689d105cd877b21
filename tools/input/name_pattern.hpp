// SPDX-License-Identifier: MIT
// name_pattern.hpp - a regular expression for names that a user gives. Only name_pattern.cpp includes the library for it.
#pragma once
#include <functional>
#include <string>

namespace ibtool {

/// True for a name in which the expression (ECMAScript syntax, std::regex) is found anywhere, in this case of letters.
using name_pattern = std::function<bool(const std::string&)>;

/// Of an empty text an empty function. Throws usage_error, which names the option, if `text` is not a regular expression.
name_pattern read_name_pattern(const std::string& option, const std::string& text);

} // namespace ibtool
