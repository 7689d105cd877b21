// SPDX-License-Identifier: MIT
// local_port_change.hpp - what changed at the local port while a command ran, in words.
#pragma once
#include <comad/sa/client.hpp>

#include <string>

namespace ibtool {

/// `the subnet manager moved from LID 1 to LID 5`, with all else that changed after it; empty if nothing did.
std::string text_of_change(const comad::sa::local_port& was, const comad::sa::local_port& now);

} // namespace ibtool
