// SPDX-License-Identifier: MIT
// port_info_extended.cpp - checks whether the port announces the attribute, and queries it.
#include "session/port_info_extended.hpp"

#include "comad.hpp"

namespace ibtool {

comad::coro::task<mad::result<std::optional<smp::PortInfoExtended>>>
query_port_info_extended(session& in, mad::any_path path, unsigned port) {
    BOOST_OUTCOME_CO_TRY(const auto node, co_await in.SubnGet<smp::NodeInfo>(path));
    const unsigned promising = node.nodeType == iba::NodeType::Switch ? 0 : port;
    BOOST_OUTCOME_CO_TRY(const auto info, co_await in.SubnGet<smp::PortInfo>(path, promising));
    const bool known = info.capabilityMask & value(iba::CapabilityMask::IsCapabilityMask2Supported) &&
                       info.capabilityMask2 & value(iba::CapabilityMask2::IsPortInfoExtendedSupported);
    if (!known) co_return std::nullopt;
    auto extended = co_await in.SubnGet<smp::PortInfoExtended>(path, port);
    if (extended) co_return extended.value();
    const bool is_promised_in_vain = is_unsupported(extended.error()) && port <= node.numPorts;
    if (!is_promised_in_vain) co_return std::move(extended.error());
    co_return std::nullopt;
}

} // namespace ibtool
