// SPDX-License-Identifier: MIT
// authorization.hpp - tokens and passwords with which clients may scrape, from a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Reads a file of lines `bearer TOKEN` or `basic USER:PASSWORD` (RFC 6750, RFC 7617), with comments after `#` at the beginning
/// of a line. The case of the first word does not matter, nor do blanks and CR at the end of a line. Returns the values of the
/// Authorization header that are accepted: `Bearer TOKEN`, `Basic BASE64`.
/// Errors: usage_error with one line, never with what is secret: a line is neither of these, or has an empty token or password;
/// no line is left; others than the owner can read or write the file; it belongs to neither this user nor root.
std::vector<std::string> read_authorizations(const std::string& file);

/// Whether the value of an Authorization header is one of these; the case of its scheme does not matter (RFC 9110, 11.1). Takes as
/// long whether the first character is wrong or the last.
bool is_authorized(std::string_view given, const std::vector<std::string>& accepted);

} // namespace ibtool
