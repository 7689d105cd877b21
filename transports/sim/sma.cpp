// SPDX-License-Identifier: MIT
// sma.cpp - replies of subnet management agents.
#include "sma.hpp"

#include <comad/iba/smp.hpp>

#include <algorithm>
#include <bit>

namespace comad::transports::sim {
namespace {

using header = iba::MADHeader;
using iba::Method;

constexpr u64 default_prefix = 0xfe80'0000'0000'0000; // of GIDs (IBA 4.1.1)

constexpr u32 usual_capabilities =
    value(iba::CapabilityMask::IsTrapSupported) | value(iba::CapabilityMask::IsSLMappingSupported) |
    value(iba::CapabilityMask::IsSystemImageGUIDSupported) | value(iba::CapabilityMask::IsExtendedSpeedsSupported);

bool has_reply(Method m) noexcept {
    return !iba::is_response(m) && m != Method::Send && m != Method::Trap && m != Method::TrapRepress;
}

/// The attribute's 64 bytes; fields that a table does not describe are zero.
template <class T> void put_attribute(const T& value, u8* smp) noexcept {
    u8* data = smp + iba::offset_of<&iba::smp::Format::data>;
    std::fill_n(data, 64, u8{0});
    iba::encode(value, data);
}

u16 put_node_description(const node& n, u8* smp) noexcept {
    iba::smp::NodeDescription d;
    std::copy_n(n.description.begin(), std::min(n.description.size(), d.nodeString.size()), d.nodeString.begin());
    put_attribute(d, smp);
    return 0;
}

u16 put_node_info(const node& n, u8 in_port, u8* smp) noexcept {
    iba::smp::NodeInfo i;
    i.baseVersion = 1;
    i.classVersion = 1;
    i.nodeType = n.type;
    i.numPorts = static_cast<u8>(n.num_ports());
    i.systemImageGUID = n.systemImageGUID;
    i.nodeGUID = n.nodeGUID;
    i.portGUID = n.ports[in_port].GUID;
    i.partitionCap = n.is_switch() ? 32 : 128;
    i.deviceID = n.deviceID;
    i.localPortNum = in_port;
    i.vendorID = n.vendorID;
    put_attribute(i, smp);
    return 0;
}

u16 put_switch_info(const topology& t, const node& n, bool port_state_change, u8* smp) noexcept {
    if (!n.is_switch()) return mad_status::unsupported_attribute;
    iba::smp::SwitchInfo i;
    i.linearFDBCap = 0xc000;
    i.multicastFDBCap = 1024;
    if (value(t.sm_lid) != 0) {
        i.linearFDBTop = 0xbfff;
        i.lifeTimeValue = 18;
    }
    i.portStateChange = port_state_change;
    i.partitionEnforcementCap = 32;
    i.inboundEnforcementCap = i.outboundEnforcementCap = true;
    i.enhancedPort0 = n.enhanced_port0;
    put_attribute(i, smp);
    return 0;
}

/// What only an end port has: LIDs, GIDs, capabilities.
void describe_end_port(const topology& t, const node& n, const port& p, iba::smp::PortInfo& i) noexcept {
    i.GIDPrefix = default_prefix;
    i.LID = p.LID;
    i.LMC = n.is_switch() && !n.enhanced_port0 ? 0 : p.LMC;
    i.masterSMLID = value(p.LID) != 0 ? t.sm_lid : iba::lid{};
    i.capabilityMask = usual_capabilities;
    if (value(p.LID) != 0 && p.LID == t.sm_lid) i.capabilityMask |= value(iba::CapabilityMask::IsSM);
    i.GUIDCap = 32;
    i.subnetTimeOut = 18;
    i.respTimeValue = 16;
}

void describe_link(const port& p, iba::smp::PortInfo& i) noexcept {
    i.portState = p.state;
    i.portPhysicalState =
        p.state == iba::PortState::Down ? iba::PortPhysicalState::Polling : iba::PortPhysicalState::LinkUp;
    i.linkDownDefaultState = iba::PortPhysicalState::Polling;
    i.linkWidthSupported = p.supported.width;
    i.linkWidthEnabled = p.enabled.width;
    i.linkSpeedSupported = p.supported.legacy_speed();
    i.linkSpeedEnabled = p.enabled.legacy_speed();
    i.linkSpeedExtSupported = p.supported.extended_speed();
    i.linkSpeedExtEnabled = p.enabled.extended_speed();
    // A port that is down has trained to nothing, and says the least there is.
    i.linkWidthActive = iba::LinkWidth{p.active.width != 0 ? p.active.width : u8{1}};
    i.linkSpeedExtActive = iba::LinkSpeedExt{p.active.extended_speed()};
    // Ports at an extended speed show the fastest of the older ones that they support.
    const u8 legacy =
        p.active.extended_speed() != 0 ? std::bit_floor(p.supported.legacy_speed()) : p.active.legacy_speed();
    i.linkSpeedActive = iba::LinkSpeed{legacy != 0 ? legacy : u8{1}};
}

u16 put_port_info(const topology& t, const node& n, u8 in_port, u8* smp) noexcept {
    // The highest bit asks for extended speeds, which are always told (IBA 14.2.5.6).
    u32 number = iba::get<&header::attributeModifier>(smp) & 0x7fffffff;
    if (number > n.num_ports()) return mad_status::invalid_value;
    if (number == 0 && !n.is_switch()) number = in_port;
    const port& p = n.ports[number];

    iba::smp::PortInfo i;
    i.localPortNum = in_port;
    describe_link(p, i);
    if (number == 0 || !n.is_switch()) describe_end_port(t, n, p, i);
    i.neighborMTU = i.MTUCap = iba::MTU::m4096;
    i.VLCap = i.operationalVLs = iba::VLCap::VL0_7;
    i.VLArbitrationHighCap = i.VLArbitrationLowCap = 8;
    i.VLStallCount = 7;
    i.HOQLife = 16;
    i.localPhyErrors = i.overrunErrors = 8;
    put_attribute(i, smp);
    return 0;
}

u16 put_reply(const topology& t, const node& n, u8 in_port, bool port_state_change, u8* smp) noexcept {
    if (iba::get<&header::classVersion>(smp) != 1) return mad_status::bad_version;
    const Method method = iba::get<&header::method>(smp);
    if (method != Method::Get && method != Method::Set) return mad_status::unsupported_method;
    if (method == Method::Set) return mad_status::unsupported_attribute; // no attribute here can be set yet
    switch (iba::get<&header::attributeID>(smp)) {
    case iba::attribute_id<iba::smp::NodeDescription>: return put_node_description(n, smp);
    case iba::attribute_id<iba::smp::NodeInfo>: return put_node_info(n, in_port, smp);
    case iba::attribute_id<iba::smp::SwitchInfo>: return put_switch_info(t, n, port_state_change, smp);
    case iba::attribute_id<iba::smp::PortInfo>: return put_port_info(t, n, in_port, smp);
    default: return mad_status::unsupported_attribute;
    }
}

} // namespace

bool answer(const topology& t, u32 node, u8 in_port, bool port_state_change, u8* smp) noexcept {
    if (!has_reply(iba::get<&header::method>(smp))) return false;
    return answer_status(put_reply(t, t.nodes[node], in_port, port_state_change, smp), smp);
}

bool answer_status(u16 status, u8* smp) noexcept {
    const Method method = iba::get<&header::method>(smp);
    if (!has_reply(method)) return false;
    // Get and Set are both answered by GetResp, any other method by itself with the response bit (IBA 13.4.5).
    const Method get_or_self = method == Method::Set ? Method::Get : method;
    iba::put<&header::method>(smp, Method{static_cast<u8>(value(get_or_self) | iba::response_bit)});
    iba::put<&header::status>(smp, status);
    return true;
}

} // namespace comad::transports::sim
