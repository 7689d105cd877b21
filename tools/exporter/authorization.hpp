// SPDX-License-Identifier: MIT
// authorization.hpp - the tokens and passwords for HTTP clients, read from a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Reads a file of lines `bearer TOKEN` or `basic USER:PASSWORD` (RFC 6750, RFC 7617), with comments after `#` at the start of a line. The
/// case of the first word, and blanks and CR at the end of a line, are ignored. Returns the accepted values of the Authorization header:
/// `Bearer TOKEN`, `Basic BASE64`.
/// Errors: usage_error with one line that never contains a secret: a line has another format, or an empty token or password; no line is
/// left; users other than the owner can read or write the file; the file belongs to neither this user nor root.
std::vector<std::string> read_authorizations(const std::string& file);

/// Returns whether the value of an Authorization header is accepted; the case of its scheme is ignored (RFC 9110, 11.1). The time does not
/// depend on the position of the first wrong character.
bool is_authorized(std::string_view given, const std::vector<std::string>& accepted);

} // namespace ibtool
