// SPDX-License-Identifier: MIT
// fabric_label.cpp - adds the name of a fabric to JSON objects, lines of CSV and text.
#include "text/fabric_label.hpp"

#include "text/json.hpp"
#include "text/output.hpp"
#include <comad/iba/detail/csv.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace ibtool {
namespace {

/// The fabric whose output is written now.
struct label_state {
    std::string name, escaped;
    fabric_format format;
    bool is_first;         // no text of an earlier fabric was written
    bool has_text = false; // text of this fabric was written
};
std::optional<label_state>& label_now() {
    static std::optional<label_state> now;
    return now;
}

std::string labelled_json(const std::string& text, const std::string& name) {
    std::string out;
    std::istringstream in(text);
    for (nlohmann::ordered_json value; (in >> std::ws).peek() != std::istringstream::traits_type::eof();) {
        in >> value;
        value["fabric"] = json_string(name);
        out += json_line(value);
    }
    return out;
}

std::string labelled_csv(std::string_view text, label_state& label) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        const bool is_head = !std::exchange(label.has_text, true);
        if (!is_head) out += comad::iba::csv_text(label.name) + ",";
        else if (label.is_first) out += "fabric,";
        if (!is_head || label.is_first) out += text.substr(0, end);
        text.remove_prefix(end);
    }
    return out;
}

} // namespace

fabric_label::fabric_label(std::string name, fabric_format format, bool is_first) {
    std::string escaped = comad::iba::escaped(name);
    label_now().emplace(label_state{std::move(name), std::move(escaped), format, is_first});
}
fabric_label::~fabric_label() { label_now().reset(); }
bool fabric_label::has_text() const noexcept { return label_now()->has_text; }

bool is_labelled() noexcept { return label_now().has_value(); }

const std::string& labelled_fabric() noexcept {
    static const std::string none;
    return label_now() ? label_now()->escaped : none;
}

std::string with_fabric_label(std::string_view text) {
    label_state& label = *label_now();
    if (text.empty()) return {};
    if (label.format == fabric_format::csv) return labelled_csv(text, label);
    if (label.format == fabric_format::json_lines && text.starts_with('{'))
        return labelled_json(std::string(text), label.name);
    if (std::exchange(label.has_text, true)) return std::string(text);
    return fmt::format("# fabric {}\n{}", label.escaped, text);
}

} // namespace ibtool
