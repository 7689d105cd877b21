// SPDX-License-Identifier: MIT
// output.hpp - a command's result, written whole or with an error. Knows no format.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// Writes to the file, or to stdout if the name is empty. Throws std::runtime_error with one line if not all of it could
/// be written.
void write_output(std::string_view text, const std::string& file = {});

/// A line for each thing that a result lacks, or one for all: the device was lost meanwhile. `loss`: as session::loss_text()
/// has it.
std::vector<std::string> lines_about(std::vector<std::string> missing, const std::string& loss);
/// The same on stderr.
void tell_missing(std::vector<std::string> missing, const std::string& loss);

/// The lines of a dump inside of a dump: two tabs in front of each, but of those that go on with a field and begin with tabs
/// already. Precondition: the last one ends.
std::string indented(std::string_view lines);

} // namespace ibtool
