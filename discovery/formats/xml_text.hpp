// SPDX-License-Identifier: MIT
// xml_text.hpp - escapes names for XML. Does not depend on a format.
#pragma once
#include <string>
#include <string_view>

namespace comad::discovery {

/// Escapes a name for text or attributes of XML. The name is already valid UTF-8 without control characters.
std::string xml_escaped(std::string_view text);

} // namespace comad::discovery
