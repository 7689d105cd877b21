// SPDX-License-Identifier: MIT
// csv_table.cpp - formats JSON values as fields of CSV.
#include "text/csv_table.hpp"

#include "text/json.hpp"
#include <comad/iba/detail/csv.hpp>

#include <algorithm>
#include <cctype>

namespace ibtool {
namespace {

bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) || std::string_view("_.:/").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

std::string field_text(const std::string& text) { return is_word(text) ? text : comad::iba::csv_text(text); }

std::string field_of(const nlohmann::ordered_json& value) {
    if (value.is_string()) return field_text(value.get_ref<const std::string&>());
    if (!value.is_array()) return json_compact(value);
    std::string all;
    for (const auto& element : value) {
        if (!all.empty()) all += ' ';
        all += element.is_string() ? element.get_ref<const std::string&>() : json_compact(element);
    }
    return all.empty() ? all : field_text(all);
}

} // namespace

csv_table::csv_table(const std::vector<std::string_view>& columns) {
    for (const std::string_view column : columns) {
        const std::size_t colon = column.find(':');
        columns_.emplace_back("/" + std::string(column.substr(0, colon)));
        std::string title(colon == column.npos ? column : column.substr(colon + 1));
        std::ranges::replace(title, '/', '_');
        if (!text_.empty()) text_ += ',';
        text_ += title;
    }
    text_ += '\n';
}

void csv_table::add(const nlohmann::ordered_json& row) {
    bool is_first = true;
    for (const auto& column : columns_) {
        if (!is_first) text_ += ',';
        is_first = false;
        if (row.contains(column)) text_ += field_of(row.at(column));
    }
    text_ += '\n';
}

} // namespace ibtool
