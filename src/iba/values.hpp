// SPDX-License-Identifier: MIT
// values.hpp - parses values and writes them to single rows of encoded structures. It does not depend on any structure
// or on names of fields.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <string_view>

namespace comad::iba::detail {

/// The field that a value is written to.
struct target {
    std::span<u8> bytes; ///< bytes of the whole structure
    row_info row;        ///< row of the field; not a structure
    std::string path;    ///< path for messages: `SMPPortInfo.LMC`

    /// Returns the target of an element of an array, or of a byte of a text.
    target element(unsigned i) const;
};

/// Sets the field to zero.
void clear(const target&);
/// Writes a number; `given` is its text in error messages. Precondition: a field, or element, of at most 64 bits.
result<void> set_number(const target&, u64 n, std::string_view given);
/// Parses a text and writes its value (fields.hpp, set_field). After an error, the field may have any value.
result<void> set_text(const target&, std::string_view text);

/// Return errors for a value that does not fit, a list with too many elements, or invalid text.
error out_of_range(const target&, std::string_view given);
/// Returns the error for a list with too many elements.
error too_many(const target&, std::size_t elements);
/// Returns the error for invalid text.
error unreadable(const target&, std::string_view given);

} // namespace comad::iba::detail
