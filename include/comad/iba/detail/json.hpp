// SPDX-License-Identifier: MIT
// json.hpp - builds and writes the JSON of the library and of ibtool. Values are nlohmann's ordered_json: members keep
// the order in which they were added. The header is not installed. Do not include it in other headers, because
// nlohmann's header takes long to compile.
//
// All text is ASCII, because terminals interpret U+009B like escape, and U+202E reverses the text after it.
#pragma once
#include <comad/iba/print.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace comad::iba::detail {

/// Returns text from the network as a value. It keeps its bytes, for formats other than JSON; the functions that write JSON convert it by
/// valid_utf8().
nlohmann::ordered_json json_string(std::string_view raw);
/// Returns a number, without a fraction if it is whole: `5`, not `5.0`. Infinity and NaN become null.
nlohmann::ordered_json json_number(double);
/// Returns a number, rounded to `decimals` digits after the decimal point.
nlohmann::ordered_json json_number(double, unsigned decimals);
/// Returns `0x` and two digits for each byte.
nlohmann::ordered_json json_bytes(std::span<const u8>);

/// Returns what json() of print.hpp writes, as a value.
nlohmann::ordered_json json_object(const record_info&, std::span<const u8> bytes, const record_info* data = nullptr,
                                   json_style = json_style::readable, key_display = key_display::shown);
template <wire T>
nlohmann::ordered_json json_object(const T& value, json_style style = json_style::readable,
                                   key_display keys = key_display::shown) {
    return json_object(info_of<T>, encode(value), nullptr, style, keys);
}

/// Returns a text: one line without line end, one line with line end, or a document with indented lines. All texts in
/// the value are converted by valid_utf8().
std::string json_compact(const nlohmann::ordered_json&);
std::string json_line(const nlohmann::ordered_json&);
std::string json_document(const nlohmann::ordered_json&);

/// Adds a list as the last member of an object that has at least one member. `object` is the output of json_compact()
/// or json_document(). Only one element at a time is in memory as a value, because values take many times the space of
/// their text.
void add_json_list(std::string& object, std::string_view name, std::size_t size,
                   const std::function<nlohmann::ordered_json(std::size_t)>& element);

} // namespace comad::iba::detail
