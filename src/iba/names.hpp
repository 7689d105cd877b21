// SPDX-License-Identifier: MIT
// names.hpp - dotted names taken apart along the tables. Knows no bytes.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/table.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba::detail {

/// One part of a dotted name: the row, and which element of it, if the name says.
struct step {
    const row_info* row;
    std::optional<unsigned> element;
};
/// The rows from the outermost structure to the field. Errors: unknown_name.
result<std::vector<step>> resolve(const record_info& info, std::string_view name);

/// `where` has no field of this name, but those of `info`.
error unknown_field(const record_info& info, std::string_view where, std::string_view name);
/// A structure was named where a value is needed.
error is_structure(const row_info& row, std::string_view where);

} // namespace comad::iba::detail
