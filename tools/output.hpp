// SPDX-License-Identifier: MIT
// output.hpp - a command's result, written whole or with an error. Knows no format.
#pragma once
#include <string>
#include <string_view>

namespace ibtool {

/// Writes to the file, or to stdout if the name is empty. Throws std::runtime_error with one line if not all of it could
/// be written.
void write_output(std::string_view text, const std::string& file = {});

/// The lines of a dump inside of a dump: two tabs in front of each, but of those that go on with a field and begin with tabs
/// already. Precondition: the last one ends.
std::string indented(std::string_view lines);

} // namespace ibtool
