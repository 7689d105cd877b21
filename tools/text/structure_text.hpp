// SPDX-License-Identifier: MIT
// structure_text.hpp - formats a structure as the user requests: with the labels of infiniband-diags, with IBA names, as annotated words,
// or as JSON. Includes keys only on request. Does not depend on particular structures.
#pragma once
#include "input/options.hpp"
#include "text/json.hpp"
#include <comad/iba/print.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// The format of structures.
enum class structure_style {
    diags,     ///< labels of infiniband-diags
    iba_names, ///< one field per line with IBA names (--int-names)
    annotated, ///< one word per line, with the fields that start in it (-vv)
};

/// Returns the style that the options request.
structure_style style_of(const global_options&);

using keys = comad::iba::key_display;

/// Returns the structure in a style other than structure_style::diags. A hidden key is `<not displayed>`, and its words are 0.
std::string format_structure(structure_style, const comad::iba::record_info&, std::vector<comad::u8> bytes,
                             keys = keys::hidden);
/// Returns the text of a value; in the style diags, the result of `diags`.
template <comad::iba::wire T, class Diags>
std::string format_structure(structure_style style, const T& value, keys which, Diags&& diags) {
    if (style == structure_style::diags) return diags(value);
    const auto bytes = comad::iba::encode(value);
    return format_structure(style, comad::iba::info_of<T>, {bytes.begin(), bytes.end()}, which);
}

/// The format of a reply of which only the table is known.
struct reply_style {
    bool json, annotated;
    keys which = keys::hidden;
};
/// Returns the text of a structure: a line of JSON, words with fields, or a line for each field.
std::string format_reply(const comad::iba::record_info&, std::span<const comad::u8> bytes, reply_style);

/// Returns a JSON object without the hidden keys.
nlohmann::ordered_json structure_json(const comad::iba::record_info&, std::span<const comad::u8> bytes,
                                      keys = keys::hidden);
/// Returns a JSON object with or without the keys of the structure.
template <comad::iba::wire T> nlohmann::ordered_json structure_json(const T& value, keys which = keys::hidden) {
    return structure_json(comad::iba::info_of<T>, comad::iba::encode(value), which);
}

} // namespace ibtool
