// SPDX-License-Identifier: MIT
// structure_text.hpp - a structure as the user wants to read it: with infiniband-diags' labels, with the names of the IBA, as
// annotated words, as JSON; keys only where they were asked for. Knows no structure.
#pragma once
#include "input/options.hpp"
#include "text/json.hpp"
#include <comad/iba/print.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// What structures look like.
enum class structure_style {
    diags,     ///< infiniband-diags' labels
    iba_names, ///< a field a line, by the names of the IBA (--int-names)
    annotated, ///< a word a line, with the fields that begin in it (-vv)
};

structure_style style_of(const global_options&);

using keys = comad::iba::key_display;

/// The structure in a style other than structure_style::diags. A hidden key is `<not displayed>`, and its words are 0.
std::string structure_text(structure_style, const comad::iba::record_info&, std::vector<comad::u8> bytes,
                           keys = keys::hidden);
/// The same of a value, or what `diags` makes of it.
template <comad::iba::wire T, class Diags>
std::string structure_text(structure_style style, const T& value, keys which, Diags&& diags) {
    if (style == structure_style::diags) return diags(value);
    const auto bytes = comad::iba::encode(value);
    return structure_text(style, comad::iba::info_of<T>, {bytes.begin(), bytes.end()}, which);
}

/// An object without the hidden keys.
nlohmann::ordered_json structure_json(const comad::iba::record_info&, std::span<const comad::u8> bytes,
                                      keys = keys::hidden);
template <comad::iba::wire T> nlohmann::ordered_json structure_json(const T& value, keys which = keys::hidden) {
    return structure_json(comad::iba::info_of<T>, comad::iba::encode(value), which);
}

} // namespace ibtool
