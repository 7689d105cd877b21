// SPDX-License-Identifier: MIT
// keys.hpp - which fields are keys (M_Key, SM_Key, CC_Key, ServiceKey), and structures and MADs without them: for who may see
// the rest.
#pragma once
#include <comad/iba/table.hpp>

#include <span>

namespace comad::iba {

/// Whether the printers (print.hpp) show keys.
enum class key_display : u8 { shown, hidden };

/// The row holds a key.
bool is_key(const row_info&) noexcept;

/// Zeros in place of each key of a structure, those of structures inside of it included. `data`: as the printers'. Keys that are
/// not wholly within the bytes stay. Gives whether there was a key that is not 0.
bool hide_keys(const record_info&, std::span<u8> bytes, const record_info* data = nullptr);

/// The same of a MAD by its header: in the class's own header, in the attribute, and in a segment of a table (RMPP) in what it
/// has of each record. Nothing is hidden in a MAD of an unknown class or attribute.
bool hide_keys(std::span<u8> mad);

} // namespace comad::iba
