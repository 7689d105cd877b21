// SPDX-License-Identifier: MIT
// keys.hpp - finds keys in structures and MADs and replaces them, for output that other people may read. Keys are the
// M_Key, SM_Key, B_Key, CC_Key and ServiceKey of the IBA, and the vs_key, am_key, N2N_Key and pm_key of Mellanox
// devices. P_Keys and Q_Keys are not secret: the IBA sends them in every packet, and infiniband-diags prints them.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>

namespace comad::iba {

/// Whether the printers (print.hpp) show keys.
enum class key_display : u8 { shown, hidden };

/// Returns whether the row contains a key.
bool is_key(const row_info&) noexcept;

/// Replaces each key of a structure, and of the structures in it, with zeros. `data`: as for the printers. If a key is
/// only partly within the bytes, the function replaces that part. Returns whether a byte changed.
bool hide_keys(const record_info&, std::span<u8> bytes, const record_info* data = nullptr);

/// Replaces each key of a MAD with zeros, by management class and attribute: in the header of the class, in the
/// attribute, in the details of a notice (trap 256), and in each record of an SA table, which may be whole or an RMPP
/// segment. In the Mellanox vendor classes, the first 8 bytes of the data are a key, unless register_structures()
/// describes the attribute with other fields there. It ignores the class version, and also handles attributes that are
/// unknown or incomplete. It does not change a MAD of a class without keys, or one that is shorter than a MAD header.
/// Returns whether a byte changed.
bool hide_keys(std::span<u8> mad);

} // namespace comad::iba
