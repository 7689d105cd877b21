// SPDX-License-Identifier: MIT
// json.hpp - how JSON is written: a line, a document, and what is in it of text from the network.
#pragma once
#include <comad/iba/text.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace ibtool {

/// Text from the network as a value: what it is, not what a terminal may show of it; a byte that is no UTF-8 becomes U+00NN.
inline nlohmann::ordered_json json_string(std::string_view raw) {
    return nlohmann::ordered_json::parse(comad::iba::json_quoted(raw));
}

namespace detail {
/// All but ASCII is escaped: a terminal obeys U+009B as it obeys escape, and reads U+202E backwards. What is no UTF-8, and no
/// json_string(), is replaced.
inline std::string json_dump(const nlohmann::ordered_json& j, int indent) {
    constexpr bool ascii_only = true;
    return j.dump(indent, ' ', ascii_only, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}
} // namespace detail

inline std::string json_line(const nlohmann::ordered_json& j) { return detail::json_dump(j, -1); }
/// For who reads it in an editor.
inline std::string json_document(const nlohmann::ordered_json& j) { return detail::json_dump(j, 1); }

} // namespace ibtool
