// SPDX-License-Identifier: MIT
// json.hpp - how JSON is written: a line, a document, and what is in it of text from the network.
#pragma once
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace ibtool {

/// Text from the network as a value: unchanged, not as a terminal may show it. A byte that is not UTF-8 becomes U+00NN.
nlohmann::ordered_json json_string(std::string_view raw);
/// The value of a text that the library wrote, such as iba::json().
nlohmann::ordered_json json_value(std::string_view text);

/// One line, and a document with indented lines for an editor. Both are ASCII: a terminal obeys U+009B as it obeys escape, and
/// reads U+202E backwards. Bytes that are neither UTF-8 nor from json_string() are replaced.
std::string json_line(const nlohmann::ordered_json&);
std::string json_document(const nlohmann::ordered_json&);

} // namespace ibtool
