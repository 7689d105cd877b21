// SPDX-License-Identifier: MIT
// authorization.hpp - bearer tokens and passwords that HTTP clients of the exporter must send; reads them from a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Returns the accepted values of the Authorization header: `Bearer TOKEN`, `Basic BASE64`. Reads them from a file with lines `bearer
/// TOKEN` or `basic USER:PASSWORD` (RFC 6750, RFC 7617). A line that starts with `#` is a comment. The case of the first word is ignored.
/// Blanks and CR at the end of a line are ignored.
/// Errors: usage_error with one line that never contains a secret. A line must have this format, and its token or password must not be
/// empty. The file must contain credentials. Only its owner may read or write it. The owner must be this user or root.
std::vector<std::string> read_authorizations(const std::string& file);

/// Returns whether the value of an Authorization header is accepted. The case of its scheme is ignored (RFC 9110, 11.1). The comparison
/// takes the same time wherever the first wrong character is.
bool is_authorized(std::string_view given, const std::vector<std::string>& accepted);

} // namespace ibtool
