// SPDX-License-Identifier: MIT
// diags_text.hpp - attributes as infiniband-diags and libibmad's dumpers print them, label by label. Asks nobody.
#pragma once
#include <comad/iba/detail/mellanox.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/path.hpp>

#include <span>
#include <string>
#include <string_view>

namespace ibtool {

/// `Lid 7`, `DR path slid 65535; dlid 65535; 0,1`, or both, as portid2str() says where something is.
std::string place_text(const comad::mad::any_path&);

/// `Channel Adapter`, `Switch`, `Router`.
std::string node_type_text(comad::iba::NodeType);

// One bit of a set in PortInfo, as what is active: `4X`, `10.0 Gbps`, `25.78125 Gbps`, `212.5 Gbps`.
std::string width_text(comad::u64 bit);
std::string speed_text(comad::u64 bit);
std::string extended_speed_text(comad::u64 bit);
std::string extended_speed2_text(comad::u64 bit);
/// `Active`, `LinkUp`.
std::string link_state_text(comad::iba::PortState);
std::string physical_link_state_text(comad::iba::PortPhysicalState);

// Dotted lines: `NumPorts:........................8`.
std::string diags_text(const comad::iba::smp::NodeInfo&);
std::string diags_text(const comad::iba::smp::SwitchInfo&);
std::string diags_text(const comad::iba::smp::MlnxExtPortInfo&);
/// Labels of libibmad, bits of the IBA: libibmad 44 reads the modes of HDR and NDR from elsewhere.
std::string diags_text(const comad::iba::smp::PortInfoExtended&);
/// With the lines for XDR that newer libibmads print only where the port says something of it.
std::string diags_text(const comad::iba::smp::PortInfo&, bool show_keys);

/// What ibportstate shows of a PortInfo. `extended`: extended speeds mean something there; `is_end_port`: it is not a switch's
/// external port, so that it has an M_Key.
std::string port_state_text(const comad::iba::smp::PortInfo&, bool extended, bool is_end_port, bool show_keys);

/// `|` and the VL of each SL.
std::string diags_text(const comad::iba::smp::SLToVLMappingTable&);
/// Two lines for up to 32 entries: VLs and weights.
std::string vl_arbitration_text(std::span<const comad::u16> entries);
/// Rows of `per_row` numbers behind the index of their first; `size`: how many of `values` there are, rounded up to rows.
std::string table_text(std::span<const comad::u8> values, std::size_t size);
std::string table_text(std::span<const comad::u16> values, std::size_t size);
std::string table_text(std::span<const comad::iba::guid> values, std::size_t size);
/// `Node Description:` and dots up to the name.
std::string node_description_text(std::string_view name);
/// 64 bytes, two by two, eight of these in a line.
std::string hex_text(std::span<const comad::u8> bytes);
/// What vendstat -N says.
std::string diags_text(const comad::iba::vend::MlxGeneralInfo&);

} // namespace ibtool
