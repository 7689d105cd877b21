// SPDX-License-Identifier: MIT
// description.hpp - converts the text of a NodeDescription in files to its bytes.
#pragma once
#include <string>
#include <string_view>

namespace comad::topology_file {

/// Returns the bytes for which iba::escaped() returns `text`; if no bytes have this text, `text` itself. At most 64 bytes, as
/// in NodeDescription.
std::string description_of(std::string_view text);

} // namespace comad::topology_file
