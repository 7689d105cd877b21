// SPDX-License-Identifier: MIT
// sa_text.hpp - SA records as infiniband-diags' saquery prints them, label by label. Asks nobody.
#pragma once
#include <comad/iba/class_port_info.hpp>
#include <comad/iba/sa.hpp>

#include <string>
#include <string_view>

namespace ibtool {

std::string saquery_text(const comad::iba::sa::NodeRecord&);
std::string saquery_text(const comad::iba::sa::PortInfoRecord&);
std::string saquery_text(const comad::iba::sa::SwitchInfoRecord&);
std::string saquery_text(const comad::iba::sa::SMInfoRecord&);
std::string saquery_text(const comad::iba::sa::LinkRecord&);
std::string saquery_text(const comad::iba::sa::PathRecord&);
std::string saquery_text(const comad::iba::sa::MCMemberRecord&);
std::string saquery_text(const comad::iba::sa::ServiceRecord&);
std::string saquery_text(const comad::iba::sa::InformInfoRecord&);
std::string saquery_text(const comad::iba::sa::LinearForwardingTableRecord&);
std::string saquery_text(const comad::iba::sa::MulticastForwardingTableRecord&);
std::string saquery_text(const comad::iba::sa::SLToVLMappingTableRecord&);
std::string saquery_text(const comad::iba::sa::PKeyTableRecord&);
std::string saquery_text(const comad::iba::sa::VLArbitrationTableRecord&);
std::string saquery_text(const comad::iba::sa::GUIDInfoRecord&);
std::string saquery_text(const comad::iba::ClassPortInfo&);

/// What -s says of a port.
std::string saquery_short_text(const comad::iba::sa::PortInfoRecord&);
/// What -g says of a group.
std::string saquery_group_text(const comad::iba::sa::MCMemberRecord&);
/// What -m says of a port of a group; `name`: of its node.
std::string saquery_member_text(const comad::iba::sa::MCMemberRecord&, std::string_view name);

} // namespace ibtool
