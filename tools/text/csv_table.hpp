// SPDX-License-Identifier: MIT
// csv_table.hpp - formats the rows of a table, which commands have as JSON objects, as CSV (RFC 4180, but with line feeds).
#pragma once
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A table with fixed columns.
class csv_table {
public:
    /// Each column is the path of a member. A slash separates the names of nested members, as in `peer/nodeGUID`; the title of this
    /// column is `peer_nodeGUID`. A colon starts a title of its own: `errors/symbolErrorCounter:symbolErrorCounter`.
    explicit csv_table(const std::vector<std::string_view>& columns);

    /// Adds a row. Members that are missing are empty fields, and the elements of an array are separated by blanks. Texts other than words
    /// of letters, digits, `_`, `.`, `:` and `/` are quoted as csv_text() does.
    void add(const nlohmann::ordered_json& row);
    /// Returns the line with the titles, and one line for each row.
    const std::string& text() const { return text_; }

private:
    std::vector<nlohmann::ordered_json::json_pointer> columns_;
    std::string text_;
};

} // namespace ibtool
