// SPDX-License-Identifier: MIT
// export_words.hpp - names and values that several exports write, for programs that do not quote them.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace comad::discovery {

/// Returns whether a name has only letters, digits, `-`, `_` and `.`. Other characters have a meaning in a hostlist, or in the files of
/// schedulers or ibutils.
inline bool is_plain_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

/// Returns the text of a width or speed; empty if it is unknown (`??`), as after reading a topology file.
inline std::string_view if_known(std::string_view text) { return text.starts_with('?') ? std::string_view() : text; }

} // namespace comad::discovery
