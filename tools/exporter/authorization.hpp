// SPDX-License-Identifier: MIT
// authorization.hpp - who may scrape: tokens and passwords from a file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Reads a file of lines `bearer TOKEN` or `basic USER:PASSWORD` (RFC 6750, RFC 7617), with comments after `#` at the beginning
/// of a line. Gives the values that the Authorization header then has. Throws usage_error with one line for what is wrong,
/// also where others than the owner can read the file; never with what is secret.
std::vector<std::string> read_authorizations(const std::string& file);

/// Takes as long whether the first character is wrong or the last.
bool is_authorized(std::string_view given, const std::vector<std::string>& accepted) noexcept;

} // namespace ibtool
