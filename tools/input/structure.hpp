// SPDX-License-Identifier: MIT
// structure.hpp - helpers for decode, encode and describe: finds structures by name, and reads words from the command line or stdin.
#pragma once
#include <comad/iba/detail/registry.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Returns a structure by its full name, for example SMPPortInfo. Throws usage_error, which lists the other names, similar ones first.
const comad::iba::structure& structure_named(const std::string& name);

/// Returns the full names of all structures.
std::vector<std::string> structure_names();

/// Calls `use(where, word)` for each word. Without words, calls it for each line of stdin that is not empty.
void for_each_word(const std::vector<std::string>& words,
                   const std::function<void(const std::string& where, const std::string& word)>& use);

} // namespace ibtool
