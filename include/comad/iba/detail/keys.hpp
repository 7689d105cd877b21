// SPDX-License-Identifier: MIT
// keys.hpp - which fields are keys, and structures and MADs without them: for output that others may read.
// Keys are the M_Key, SM_Key, B_Key, CC_Key and ServiceKey of the IBA, and the vs_key, am_key, N2N_Key and pm_key of Mellanox'
// devices. P_Keys and Q_Keys are no secrets: the IBA sends them in every packet, and infiniband-diags prints them.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>

namespace comad::iba {

/// Whether the printers (print.hpp) show keys.
enum class key_display : u8 { shown, hidden };

/// The row holds a key.
bool is_key(const row_info&) noexcept;

/// Replaces each key of a structure with zeros, also in structures inside of it. `data`: as the printers'. Of a key that is only
/// partly within the bytes, that part becomes 0. Returns whether a byte was changed.
bool hide_keys(const record_info&, std::span<u8> bytes, const record_info* data = nullptr);

/// Replaces each key of a MAD with zeros, by management class and attribute: in the class's own header, in the attribute, in the
/// details of a notice (trap 256), and in each record of a table of the SA, whole or a segment of RMPP. The class version
/// does not matter, nor whether the attribute is known or whole. A MAD of a class without keys stays as it is, as does one that
/// is shorter than a MAD header. Returns whether a byte was changed.
bool hide_keys(std::span<u8> mad);

} // namespace comad::iba
