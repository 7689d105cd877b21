// SPDX-License-Identifier: MIT
// file_values.hpp - the values of a TOML or JSON text with their lines, so that messages about a value can name its line.
#pragma once
#include <comad/iba/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace comad::iba::detail {

struct file_member;

/// A value and the line in which it starts.
struct file_value {
    using list = std::vector<file_value>;
    using table = std::vector<file_member>;
    /// A value that is none of the other types, such as a date, is a monostate.
    std::variant<std::monostate, bool, std::int64_t, double, std::string, list, table> value;
    unsigned line = 0;

    template <class T> const T* as() const noexcept { return std::get_if<T>(&value); }
};

/// A member of a table.
struct file_member {
    std::string name;
    file_value value;
};

/// Parses a text: JSON if its first character is `{`, else TOML. `name`: for messages.
/// Errors: std::runtime_error with one line, `NAME:LINE: ...`, if the text is neither, is larger than 1 MiB or is nested too deeply.
file_value parse_file_values(std::string_view text, const std::string& name);

} // namespace comad::iba::detail
