// SPDX-License-Identifier: MIT
// key_file.hpp - a file of keys by port GUID that only its owner can read. Knows nothing of what is in it.
#pragma once
#include <comad/mad/port_keys.hpp>

#include <string>

namespace comad::transports {

/// Adds the keys in a file, whose text is that of mad::port_keys::add(). Nobody but its owner may have access to it, and
/// that is who runs the program, or root. Errors: std::runtime_error with one line.
void add_key_file(mad::port_keys& keys, const std::string& file);

} // namespace comad::transports
