// SPDX-License-Identifier: MIT
// key_file.hpp - reads files with keys by port GUID, and checks their permissions. It does not parse their contents.
#pragma once
#include <comad/mad/port_keys.hpp>

#include <string>

namespace comad::transports {

/// Adds the keys in a file or directory to `keys`. The syntax of a file is the syntax of mad::port_keys::add(). The
/// names come from OpenSM. In a file named `guid2cckey`, keys without a kind are CC_Keys. A file named `neighbors`
/// contains the neighbors of ports (add_neighbors()). A directory is OpenSM's cache: all of guid2mkey, guid2cckey and
/// neighbors that exist are read.
/// The user who runs the program, or root, must own the file. Other users must have no access to it; they may read,
/// but not write, `neighbors`.
/// Errors: throws std::runtime_error with one line; some keys may have been added already.
void add_key_file(mad::port_keys& keys, const std::string& file);

} // namespace comad::transports
