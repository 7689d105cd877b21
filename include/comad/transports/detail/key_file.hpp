// SPDX-License-Identifier: MIT
// key_file.hpp - files of keys by port GUID that only their owner can read. Knows nothing of what is in them.
#pragma once
#include <comad/mad/port_keys.hpp>

#include <string>

namespace comad::transports {

/// Adds the keys in a file, whose text is that of mad::port_keys::add(); of one that is called `guid2cckey` keys are CC_Keys where
/// nothing is said, and one called `neighbors` has who is at the other ends of cables (add_neighbors()), as OpenSM calls them.
/// Of a folder, OpenSM's cache: what there is of its guid2mkey, guid2cckey and neighbors.
/// Nobody but its owner may have access to a file, to `neighbors` nobody else may write; and the owner is who runs the program, or
/// root. Errors: std::runtime_error with one line; then something may have been added.
void add_key_file(mad::port_keys& keys, const std::string& file);

} // namespace comad::transports
