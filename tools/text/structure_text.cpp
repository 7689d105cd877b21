// SPDX-License-Identifier: MIT
// structure_text.cpp - formats structures with the printers of the library, without keys.
#include "text/structure_text.hpp"

#include "comad.hpp"
#include <comad/iba/detail/keys.hpp>
#include <comad/iba/fields.hpp>

#include <string_view>

namespace ibtool {

namespace {

/// Replaces a key in a dump with a note that it is not shown. The words of the key are 0 already.
void hide_value(std::string& dump, std::string_view name) {
    const std::string before = std::string(name) + '=';
    for (std::size_t at = 0; (at = dump.find(before, at)) != dump.npos;) {
        at += before.size();
        dump.replace(at, dump.find_first_of(",\n", at) - at, "<not displayed>");
    }
}

} // namespace

structure_style style_of(const global_options& options) {
    if (options.verbosity > 1) return structure_style::annotated;
    return options.iba_names ? structure_style::iba_names : structure_style::diags;
}

std::string format_structure(structure_style style, const iba::record_info& info, std::vector<u8> bytes, keys which) {
    if (style != structure_style::annotated) return iba::dotted(info, bytes, nullptr, {.keys = which});
    if (which == keys::shown) return iba::dump(info, bytes);
    iba::hide_keys(info, bytes);
    std::string text = iba::dump(info, bytes);
    for (const iba::field_info& field : iba::fields_of(info))
        if (iba::is_key(field.row)) hide_value(text, field.row.name);
    return text;
}

std::string format_reply(const iba::record_info& info, std::span<const u8> bytes, reply_style how) {
    if (how.json) return iba::json(info, bytes, nullptr, iba::json_style::readable, how.which) + '\n';
    const auto style = how.annotated ? structure_style::annotated : structure_style::iba_names;
    return format_structure(style, info, {bytes.begin(), bytes.end()}, how.which);
}

nlohmann::ordered_json structure_json(const iba::record_info& info, std::span<const u8> bytes, keys which) {
    return json_object(info, bytes, nullptr, iba::json_style::readable, which);
}

} // namespace ibtool
