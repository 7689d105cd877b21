// SPDX-License-Identifier: MIT
// fabric_label.hpp - adds the name of the fabric to the output of a command that runs for several fabrics; see fabric_label in output.hpp.
#pragma once
#include <string>
#include <string_view>

namespace ibtool {

/// Returns whether a fabric_label exists.
bool is_labelled() noexcept;
/// Returns the name of its fabric, safe for a terminal; empty: there is none.
const std::string& labelled_fabric() noexcept;
/// Returns the text with the name, as fabric_format describes.
std::string with_fabric_label(std::string_view text);

} // namespace ibtool
