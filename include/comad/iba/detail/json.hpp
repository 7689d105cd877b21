// SPDX-License-Identifier: MIT
// json.hpp - how the library and ibtool build and write JSON. Values are nlohmann's ordered_json: members keep the order in which they
// were added. Not installed, and not for other headers: nlohmann's header takes long to compile.
//
// All text is ASCII: terminals interpret U+009B like escape, and U+202E reverses what follows it.
#pragma once
#include <comad/iba/print.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace comad::iba::detail {

/// Text from the network as a value, by valid_utf8().
nlohmann::ordered_json json_string(std::string_view raw);
/// A number that is written without a fraction if it has none: `5`, not `5.0`. Infinity and NaN are written as null.
nlohmann::ordered_json json_number(double);
/// The same, rounded to `decimals` digits after the decimal point.
nlohmann::ordered_json json_number(double, unsigned decimals);
/// `0x` and two digits for each byte.
nlohmann::ordered_json json_bytes(std::span<const u8>);

/// What json() of print.hpp writes, as a value.
nlohmann::ordered_json json_object(const record_info&, std::span<const u8> bytes, const record_info* data = nullptr,
                                   json_style = json_style::readable, key_display = key_display::shown);
template <wire T>
nlohmann::ordered_json json_object(const T& value, json_style style = json_style::readable,
                                   key_display keys = key_display::shown) {
    return json_object(info_of<T>, encode(value), nullptr, style, keys);
}

/// One line without and with its end, and a document with indented lines for an editor. Bytes that are not UTF-8 are replaced.
std::string json_compact(const nlohmann::ordered_json&);
std::string json_line(const nlohmann::ordered_json&);
std::string json_document(const nlohmann::ordered_json&);

/// Adds a list as the last member of an object that has at least one member. `object` is what json_compact() or json_document()
/// returned. Only one element is in memory as a value at a time, because values take many times the space of their text.
void add_json_list(std::string& object, std::string_view name, std::size_t size,
                   const std::function<nlohmann::ordered_json(std::size_t)>& element);

} // namespace comad::iba::detail
