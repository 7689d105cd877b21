// SPDX-License-Identifier: MIT
// json.cpp - the only file that parses and writes nlohmann's values: each file that did would compile its parser again.
#include "text/json.hpp"

#include <comad/iba/detail/text.hpp>

namespace ibtool {
namespace {

std::string dumped(const nlohmann::ordered_json& j, int indent) {
    constexpr bool ascii_only = true;
    return j.dump(indent, ' ', ascii_only, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace

nlohmann::ordered_json json_value(std::string_view text) { return nlohmann::ordered_json::parse(text); }
nlohmann::ordered_json json_string(std::string_view raw) { return json_value(comad::iba::json_quoted(raw)); }
std::string json_line(const nlohmann::ordered_json& j) { return dumped(j, -1); }
std::string json_document(const nlohmann::ordered_json& j) { return dumped(j, 1); }

} // namespace ibtool
