// SPDX-License-Identifier: MIT
// sa_text.hpp - formats SA records as infiniband-diags' saquery does, with the same labels. Sends nothing.
#pragma once
#include "text/structure_text.hpp"
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/sa.hpp>

#include <string>
#include <string_view>

namespace ibtool {

/// `name`: the name of the node, safe for a terminal.
std::string saquery_text(const comad::iba::sa::NodeRecord&, std::string_view name);
std::string saquery_text(const comad::iba::sa::PortInfoRecord&, keys);
std::string saquery_text(const comad::iba::sa::SwitchInfoRecord&);
std::string saquery_text(const comad::iba::sa::SMInfoRecord&, keys);
std::string saquery_text(const comad::iba::sa::LinkRecord&);
std::string saquery_text(const comad::iba::sa::PathRecord&);
std::string saquery_text(const comad::iba::sa::MCMemberRecord&);
std::string saquery_text(const comad::iba::sa::ServiceRecord&, keys);
/// Omits the QP without keys, as infiniband-diags do.
std::string saquery_text(const comad::iba::sa::InformInfoRecord&, keys);
std::string saquery_text(const comad::iba::sa::LinearForwardingTableRecord&);
std::string saquery_text(const comad::iba::sa::MulticastForwardingTableRecord&);
std::string saquery_text(const comad::iba::sa::SLToVLMappingTableRecord&);
std::string saquery_text(const comad::iba::sa::PKeyTableRecord&);
std::string saquery_text(const comad::iba::sa::VLArbitrationTableRecord&);
std::string saquery_text(const comad::iba::sa::GUIDInfoRecord&);
std::string saquery_text(const comad::iba::ClassPortInfo&);
// Formats records that infiniband-diags do not support: this one and the next one.
std::string saquery_text(const comad::iba::sa::RandomForwardingTableRecord&);
std::string saquery_text(const comad::iba::sa::ServiceAssociationRecord&, keys);

/// Returns what saquery -s prints of a port.
std::string saquery_short_text(const comad::iba::sa::PortInfoRecord&);
/// Returns what saquery -g prints of a group.
std::string saquery_group_text(const comad::iba::sa::MCMemberRecord&);
/// Returns what saquery -m prints of a member port of a group; `name`: the name of its node.
std::string saquery_member_text(const comad::iba::sa::MCMemberRecord&, std::string_view name);

} // namespace ibtool
