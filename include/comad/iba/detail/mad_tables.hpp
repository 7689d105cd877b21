// SPDX-License-Identifier: MIT
// mad_tables.hpp - finds the tables of a received MAD: the table of its format and that of its attribute. It decodes
// only the header fields that are necessary for that.
#pragma once
#include <comad/iba/detail/table.hpp>
#include <comad/iba/types.hpp>

#include <span>

namespace comad::iba {

/// The tables of a MAD.
struct mad_tables {
    const record_info* format = nullptr;    ///< null: the class is unknown, or the MAD is shorter than a header
    const record_info* attribute = nullptr; ///< null: the attribute is unknown or incomplete
    unsigned data_begin = 0;                ///< byte offset of the attribute
};

/// Finds the tables by class, class version, attribute ID and, in a vendor class with OUI, the OUI. `mad` may have any
/// length.
mad_tables tables_of(std::span<const u8> mad) noexcept;

} // namespace comad::iba
