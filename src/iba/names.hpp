// SPDX-License-Identifier: MIT
// names.hpp - resolves dotted names of fields by the tables of structures. It does not access data.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/table.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba::detail {

/// One part of a dotted name: the row, and the index of the element if the name has one.
struct step {
    const row_info* row;
    std::optional<unsigned> element;
};
/// Returns the rows from the outermost structure to the field. Errors: unknown_name.
result<std::vector<step>> resolve(const record_info& info, std::string_view name);

/// Returns the error that `where` has no field of this name. The message suggests names of `info`.
error unknown_field(const record_info& info, std::string_view where, std::string_view name);
/// Returns the error that the name of a structure was given where a value is needed.
error is_structure(const row_info& row, std::string_view where);

} // namespace comad::iba::detail
