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
std::string format_saquery(const comad::iba::sa::NodeRecord&, std::string_view name);
std::string format_saquery(const comad::iba::sa::PortInfoRecord&, keys);
std::string format_saquery(const comad::iba::sa::SwitchInfoRecord&);
std::string format_saquery(const comad::iba::sa::SMInfoRecord&, keys);
std::string format_saquery(const comad::iba::sa::LinkRecord&);
std::string format_saquery(const comad::iba::sa::PathRecord&);
std::string format_saquery(const comad::iba::sa::MCMemberRecord&);
std::string format_saquery(const comad::iba::sa::ServiceRecord&, keys);
/// Without keys, also omits the QP, as infiniband-diags do.
std::string format_saquery(const comad::iba::sa::InformInfoRecord&, keys);
std::string format_saquery(const comad::iba::sa::LinearForwardingTableRecord&);
std::string format_saquery(const comad::iba::sa::MulticastForwardingTableRecord&);
std::string format_saquery(const comad::iba::sa::SLToVLMappingTableRecord&);
std::string format_saquery(const comad::iba::sa::PKeyTableRecord&);
std::string format_saquery(const comad::iba::sa::VLArbitrationTableRecord&);
std::string format_saquery(const comad::iba::sa::GUIDInfoRecord&);
std::string format_saquery(const comad::iba::ClassPortInfo&);
// infiniband-diags do not support these two records.
std::string format_saquery(const comad::iba::sa::RandomForwardingTableRecord&);
std::string format_saquery(const comad::iba::sa::ServiceAssociationRecord&, keys);

/// Returns what saquery -s prints of a port.
std::string format_saquery_short(const comad::iba::sa::PortInfoRecord&);
/// Returns what saquery -g prints of a group.
std::string format_saquery_group(const comad::iba::sa::MCMemberRecord&);
/// Returns what saquery -m prints of a member port of a group; `name`: the name of its node.
std::string format_saquery_member(const comad::iba::sa::MCMemberRecord&, std::string_view name);

} // namespace ibtool
