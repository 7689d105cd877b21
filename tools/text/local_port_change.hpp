// SPDX-License-Identifier: MIT
// local_port_change.hpp - describes what changed at the local port while a command ran.
#pragma once
#include <comad/sa/client.hpp>

#include <string>

namespace ibtool {

/// Returns `the subnet manager moved from LID 1 to LID 5`, followed by all other changes; empty if nothing has changed.
std::string text_of_change(const comad::sa::local_port& was, const comad::sa::local_port& now);

} // namespace ibtool
