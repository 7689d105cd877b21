// SPDX-License-Identifier: MIT
// mad_tables.hpp - the tables of a MAD that somebody else built: its format, and the attribute in it. Decodes no more than
// that takes.
#pragma once
#include <comad/iba/detail/table.hpp>
#include <comad/iba/types.hpp>

#include <span>

namespace comad::iba {

struct mad_tables {
    const record_info* format = nullptr;    ///< null: an unknown class, or no whole MAD header
    const record_info* attribute = nullptr; ///< null: unknown, or not wholly there
    unsigned data_begin = 0;                ///< the byte at which the attribute begins
};

/// By class, class version, attribute id and, in a vendor class that tells it, OUI. `mad` has any length.
mad_tables tables_of(std::span<const u8> mad) noexcept;

} // namespace comad::iba
