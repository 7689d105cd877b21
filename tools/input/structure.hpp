// SPDX-License-Identifier: MIT
// structure.hpp - what decode, encode and describe share: structures by name, words from the command line or stdin.
#pragma once
#include <comad/iba/detail/registry.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// A structure by its full name, e.g. SMPPortInfo. Throws usage_error, which names the others, similar ones first.
const comad::iba::structure& structure_named(const std::string& name);

/// The full names of all.
std::vector<std::string> structure_names();

/// Calls `use(where, word)` for each word; without any, for each line of the standard input that is not empty.
void for_each_word(const std::vector<std::string>& words,
                   const std::function<void(const std::string& where, const std::string& word)>& use);

} // namespace ibtool
