// SPDX-License-Identifier: MIT
// values.hpp - values of single rows written into encoded structures, from text. Knows no structure and no names.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <string_view>

namespace comad::iba::detail {

/// Where a value goes.
struct target {
    std::span<u8> bytes; ///< of the structure, all of it
    row_info row;        ///< no structure
    std::string path;    ///< for errors: `SMPPortInfo.LMC`

    /// The element of an array, or byte of a text.
    target element(unsigned i) const;
};

/// Makes it zero.
void clear(const target&);
/// Writes a number; `given` is what an error calls it. Precondition: a field, or element, of at most 64 bits.
result<void> set_number(const target&, u64 n, std::string_view given);
/// Writes the value that a text means (fields.hpp, set_field). On an error anything may have been written.
result<void> set_text(const target&, std::string_view text);

/// Errors.
error out_of_range(const target&, std::string_view given);
error too_many(const target&, std::size_t elements);
error unreadable(const target&, std::string_view given);

} // namespace comad::iba::detail
