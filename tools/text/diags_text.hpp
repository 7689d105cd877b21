// SPDX-License-Identifier: MIT
// diags_text.hpp - formats attributes as infiniband-diags and libibmad do, with the same labels. Sends nothing.
#pragma once
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/path.hpp>

#include <span>
#include <string>
#include <string_view>

namespace ibtool {

/// Returns `Lid 7`, `DR path slid 65535; dlid 65535; 0,1`, or both, as portid2str() formats a location.
std::string format_place(const comad::mad::any_path&);

/// Returns `Channel Adapter`, `Switch` or `Router`.
std::string format_node_type(comad::iba::NodeType);

// Return the text of one bit of a set in PortInfo, formatted as an active value: `4X`, `10.0 Gbps`, `25.78125 Gbps`, `212.5 Gbps`.
std::string format_width(comad::u64 bit);
std::string format_speed(comad::u64 bit);
std::string format_extended_speed(comad::u64 bit);
std::string format_extended_speed2(comad::u64 bit);
/// Return `Active`, `LinkUp`, ...
std::string format_link_state(comad::iba::PortState);
std::string format_physical_link_state(comad::iba::PortPhysicalState);

// Return dotted lines: `NumPorts:........................8`.
std::string format_diags(const comad::iba::smp::NodeInfo&);
std::string format_diags(const comad::iba::smp::SwitchInfo&);
std::string format_diags(const comad::iba::smp::MlnxExtPortInfo&);
/// Labels of libibmad, with the bits of the IBA: libibmad 44 reads the modes of HDR and NDR from other bits.
std::string format_diags(const comad::iba::smp::PortInfoExtended&);
/// Includes the lines for XDR, which newer versions of libibmad print only if the port reports such values.
std::string format_diags(const comad::iba::smp::PortInfo&, bool show_keys);

/// Returns what ibportstate prints of a PortInfo. `extended`: extended speeds are valid; `is_end_port`: the port is not an external port of
/// a switch, and so has an M_Key.
std::string format_port_state(const comad::iba::smp::PortInfo&, bool extended, bool is_end_port, bool show_keys);

/// Returns `|` and the VL of each SL.
std::string format_diags(const comad::iba::smp::SLToVLMappingTable&);
/// Returns two lines for up to 32 entries: VLs and weights.
std::string format_vl_arbitration(std::span<const comad::u16> entries);
/// Returns rows of `per_row` numbers after the index of the first one; `size`: the number of `values` to print, rounded up to rows.
std::string format_table(std::span<const comad::u8> values, std::size_t size);
std::string format_table(std::span<const comad::u16> values, std::size_t size);
std::string format_table(std::span<const comad::iba::guid> values, std::size_t size);
/// Returns `Node Description:`, dots, and the name.
std::string format_node_description(std::string_view name);
/// Returns 64 bytes in groups of two, eight groups in a line.
std::string format_hex(std::span<const comad::u8> bytes);
/// Returns what vendstat -N prints.
std::string format_diags(const comad::iba::vend::MlxGeneralInfo&);

} // namespace ibtool
