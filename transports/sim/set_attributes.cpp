// SPDX-License-Identifier: MIT
// set_attributes.cpp - applies the values that managers write to nodes: tables, SwitchInfo, SMInfo (IBA 14.2.5, 14.4.1).
#include "attributes.hpp"
#include "writable.hpp"
#include <comad/iba/detail/mellanox.hpp>
#include <comad/server/detail/request.hpp>

#include <algorithm>
#include <array>

namespace comad::transports::sim {
namespace {

namespace smp = iba::smp;
namespace status = server::status;
using iba::SMState;

template <class T> T value_in(attributes::const_block in) noexcept {
    return iba::decode<T>(in.first<iba::wire_size<T>>());
}

} // namespace

u16 attributes::set(u32 node, u8 in_port, u16 attributeID, u32 modifier, const_block in) {
    // An attribute that cannot be read cannot be written.
    std::array<u8, 64> now;
    if (const u16 refused = get(node, in_port, attributeID, modifier, now); refused != 0) return refused;
    switch (attributeID) {
    case iba::attribute_id<smp::NodeDescription>:
    case iba::attribute_id<smp::NodeInfo>:
    case iba::attribute_id<smp::PortInfoExtended>:
    case iba::attribute_id<smp::MlnxARInfo>:
    case iba::attribute_id<smp::SwitchPortStateTable>: return status::unsupported_attribute;
    case iba::attribute_id<smp::PortInfo>: return set_port_info(node, in_port, modifier, value_in<smp::PortInfo>(in));
    case iba::attribute_id<smp::MlnxExtPortInfo>:
        return set_mlnx_ext_port_info(node, in_port, modifier, value_in<smp::MlnxExtPortInfo>(in));
    case iba::attribute_id<smp::SwitchInfo>: return set_switch_info(node, value_in<smp::SwitchInfo>(in));
    case iba::attribute_id<smp::SMInfo>: return set_sm_info(modifier);
    default: return set_block(node, in_port, attributeID, modifier, in);
    }
}

u16 attributes::set_switch_info(u32 node, const smp::SwitchInfo& wanted) {
    smp::SwitchInfo now = switch_info(node);
    if (wanted.linearFDBTop >= now.linearFDBCap) return status::invalid_value;
    copy_written(now, wanted);
    written_.switch_info(node) = now;
    if (wanted.portStateChange) port_state_change_[node] = false;
    return 0;
}

/// Changes the state of the subnet manager. The modifier contains the request of another subnet manager. If that
/// manager requests a handover or a discovery, this one becomes Master at once, because no other manager exists and
/// nothing is left to discover.
u16 attributes::set_sm_info(u32 modifier) {
    struct transition {
        SMState from;
        u32 modifier;
        SMState to;
    };
    constexpr u32 handover = 1, acknowledge = 2, disable = 3, standby = 4, discover = 5;
    static constexpr std::array legal{
        transition{SMState::Master, handover, SMState::Master},
        transition{SMState::Master, acknowledge, SMState::Standby},
        transition{SMState::Standby, handover, SMState::Master},
        transition{SMState::Standby, disable, SMState::NotActive},
        transition{SMState::Standby, discover, SMState::Master},
        transition{SMState::NotActive, standby, SMState::Standby},
    };
    const auto found = std::find_if(legal.begin(), legal.end(),
                                    [&](const transition& t) { return t.from == sm_state_ && t.modifier == modifier; });
    if (found == legal.end()) return status::invalid_value;
    sm_state_ = found->to;
    return 0;
}

u16 attributes::set_block(u32 node, u8 in_port, u16 attributeID, u32 modifier, const_block in) {
    std::array<u8, 64> bytes;
    std::copy(in.begin(), in.end(), bytes.begin());
    const table_place at = block_at(node, in_port, attributeID, modifier);
    if (attributeID == iba::attribute_id<smp::GUIDInfo> && modifier == 0) { // the first GUID is fixed
        const auto& n = topology_.nodes[node];
        iba::store_be<u64>(bytes.data(), value(n.ports[n.is_switch() ? 0 : in_port].GUID));
    }
    written_.set_block(node, at.port, attributeID, at.modifier, bytes);
    return 0;
}

} // namespace comad::transports::sim
