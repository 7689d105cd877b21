// SPDX-License-Identifier: MIT
// attributes.cpp - reads the attributes of simulated nodes and ports (IBA 14.2.5).
#include "attributes.hpp"

#include "mellanox.hpp"
#include "rates.hpp"
#include "writable.hpp"
#include <comad/iba/detail/mellanox.hpp>
#include <comad/server/detail/request.hpp>

#include <algorithm>
#include <bit>

namespace comad::transports::sim {
namespace {

namespace smp = iba::smp;
namespace status = server::status;

constexpr u32 usual_capabilities =
    value(iba::CapabilityMask::IsTrapSupported) | value(iba::CapabilityMask::IsSLMappingSupported) |
    value(iba::CapabilityMask::IsSystemImageGUIDSupported) | value(iba::CapabilityMask::IsCapabilityMask2Supported);
constexpr u16 switch_pkeys = 32, ca_pkeys = 128;
constexpr u8 data_vls = 8;            // number of lanes for VLCap VL0_7
constexpr u8 arbitration_entries = 8; // per priority

template <class T> u16 put(const T& value, attributes::block out) noexcept {
    std::fill(out.begin(), out.end(), u8{0});
    iba::encode(value, out.data());
    return 0;
}

void describe_link(const port& p, smp::PortInfo& i) noexcept {
    i.portState = p.state;
    i.linkDownDefaultState = iba::PortPhysicalState::Polling;
    i.linkWidthSupported = p.supported.width;
    i.linkWidthEnabled = p.enabled.width;
    i.linkSpeedSupported = p.supported.legacy_speed();
    i.linkSpeedEnabled = p.enabled.legacy_speed();
    i.linkSpeedExtSupported = p.supported.extended_speed();
    i.linkSpeedExtEnabled = p.enabled.extended_speed();
    i.linkSpeedExtSupported2 = p.supported.extended_speed2();
    i.linkSpeedExtEnabled2 = p.enabled.extended_speed2();
    // A port that is down has no active link, and reports the smallest width and speed.
    i.linkWidthActive = iba::LinkWidth{p.active.width != 0 ? p.active.width : u8{1}};
    i.linkSpeedExtActive = iba::LinkSpeedExt{p.active.extended_speed()};
    i.linkSpeedExtActive2 = iba::LinkSpeedExt2{p.active.extended_speed2()};
    // If an extended speed is active, the legacy field contains the fastest supported legacy speed.
    const u8 legacy =
        p.active.has_extended_speed() ? std::bit_floor(p.supported.legacy_speed()) : p.active.legacy_speed();
    i.linkSpeedActive = iba::LinkSpeed{legacy != 0 ? legacy : u8{1}};
}

/// Returns the bits of capabilityMask2 for widths and speeds.
u16 capabilities_of(link_codes any) noexcept {
    using iba::CapabilityMask2;
    struct row {
        bool is_there;
        CapabilityMask2 bit;
    };
    namespace lane_speed = iba::lane_speed;
    u16 mask = 0;
    for (const row& r : {row{(any.width & value(iba::LinkWidth::w2x)) != 0, CapabilityMask2::IsLinkWidth2xSupported},
                         row{(any.speed & lane_speed::HDR) != 0, CapabilityMask2::IsLinkSpeedHDRSupported},
                         row{(any.speed & lane_speed::NDR) != 0, CapabilityMask2::IsLinkSpeedNDRSupported},
                         row{any.extended_speed2() != 0, CapabilityMask2::IsExtendedSpeeds2Supported},
                         row{(any.speed & lane_speed::XDR) != 0, CapabilityMask2::IsLinkSpeedXDRSupported}})
        if (r.is_there) mask |= value(r.bit);
    return mask;
}

/// Sets the fields that only end ports have: LIDs, GIDs and capabilities.
void describe_end_port(const topology& t, const node& n, const port& p, smp::PortInfo& i) noexcept {
    i.GIDPrefix = attributes::GIDPrefix;
    i.LID = p.LID;
    i.LMC = n.is_switch() && !n.enhanced_port0 ? 0 : p.LMC;
    i.masterSMLID = p.has_lid() ? t.sm_lid : iba::lid{};
    i.capabilityMask = usual_capabilities;
    link_codes any;
    for (const port& each : n.ports) {
        any.width |= each.supported.width;
        any.speed |= each.supported.speed;
    }
    if (any.has_extended_speed()) i.capabilityMask |= value(iba::CapabilityMask::IsExtendedSpeedsSupported);
    i.capabilityMask2 =
        static_cast<u16>(value(iba::CapabilityMask2::IsPortInfoExtendedSupported) | capabilities_of(any));
    if (n.is_switch()) i.capabilityMask2 |= value(iba::CapabilityMask2::IsSwitchPortStateTableSupported);
    if (!n.hierarchies.empty()) i.capabilityMask |= value(iba::CapabilityMask::IsHierarchyInfoSupported);
    if (p.has_lid() && p.LID == t.sm_lid) i.capabilityMask |= value(iba::CapabilityMask::IsSM);
    i.GUIDCap = attributes::gid_capacity;
    i.subnetTimeOut = attributes::packet_life_time;
    i.respTimeValue = 16;
}

} // namespace

attributes::attributes(topology& t)
    : topology_(t), forwarding_(t, written_), port_state_change_(t.nodes.size(), value(t.sm_lid) == 0) {}

u16 attributes::get(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept {
    const u16 refused = get_unwritten(node, in_port, attributeID, modifier, out);
    if (refused != 0) return refused;
    const auto at = block_at(node, in_port, attributeID, modifier);
    if (const auto* bytes = written_.find_block(node, at.port, attributeID, at.modifier))
        std::copy(bytes->begin(), bytes->end(), out.begin());
    return 0;
}

/// Returns the port whose table an SMP selects, and the modifier. Each port of a CA has its own tables; for a switch,
/// the modifier selects the port.
attributes::table_place attributes::block_at(u32 node, u8 in_port, u16 attributeID, u32 modifier) const noexcept {
    const bool is_switch = topology_.nodes[node].is_switch();
    u32 used_bits = ~u32{0};
    switch (attributeID) {
    case iba::attribute_id<smp::PKeyTable>: used_bits = is_switch ? ~u32{0} : 0xffff; break;
    case iba::attribute_id<smp::SLToVLMappingTable>: used_bits = is_switch ? 0xffff : 0; break;
    case iba::attribute_id<smp::VLArbitrationTable>: used_bits = is_switch ? ~u32{0} : 0xffff'0000; break;
    case iba::attribute_id<smp::MulticastForwardingTable>: used_bits = 0xf000'01ff; break;
    case iba::attribute_id<smp::LedInfo>: used_bits = is_switch ? ~u32{0} : 0; break;
    }
    return {is_switch ? u8{0} : in_port, modifier & used_bits};
}

u16 attributes::get_unwritten(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept {
    switch (attributeID) {
    case iba::attribute_id<smp::NodeDescription>: return put(node_description(node), out);
    case iba::attribute_id<smp::NodeInfo>: return put(node_info(node, in_port), out);
    case iba::attribute_id<smp::SwitchInfo>:
        return topology_.nodes[node].is_switch() ? put(switch_info(node), out) : status::unsupported_attribute;
    case iba::attribute_id<smp::PortInfo>: return get_port_info(node, in_port, modifier, out);
    case iba::attribute_id<smp::PortInfoExtended>: return get_port_info_extended(node, in_port, modifier, out);
    case iba::attribute_id<smp::MlnxExtPortInfo>: return get_mlnx_ext_port_info(node, in_port, modifier, out);
    case iba::attribute_id<smp::MlnxARInfo>: return get_mlnx_ar_info(node, modifier, out);
    case iba::attribute_id<smp::SwitchPortStateTable>: return get_port_states(node, modifier, out);
    case iba::attribute_id<smp::HierarchyInfo>: return get_hierarchy(node, modifier, out);
    case iba::attribute_id<smp::GUIDInfo>: return get_guid_info(node, in_port, modifier, out);
    case iba::attribute_id<smp::PKeyTable>: return get_pkey_table(node, modifier, out);
    case iba::attribute_id<smp::SLToVLMappingTable>: return get_sl_to_vl(node, modifier, out);
    case iba::attribute_id<smp::VLArbitrationTable>: return get_vl_arbitration(node, modifier, out);
    case iba::attribute_id<smp::LinearForwardingTable>: return get_linear(node, modifier, out);
    case iba::attribute_id<smp::MulticastForwardingTable>: return get_multicast(node, modifier, out);
    case iba::attribute_id<smp::SMInfo>: return get_sm_info(node, in_port, out);
    case iba::attribute_id<smp::LedInfo>:
        return modifier > topology_.nodes[node].num_ports() ? status::invalid_value : put(smp::LedInfo{}, out);
    default: return status::unsupported_attribute;
    }
}

// ---- Nodes -----------------------------------------------------------------------------------------------------------

smp::NodeDescription attributes::node_description(u32 number) const noexcept {
    const std::string& description = topology_.nodes[number].description;
    smp::NodeDescription d;
    std::copy_n(description.begin(), std::min(description.size(), d.nodeString.size()), d.nodeString.begin());
    return d;
}

smp::NodeInfo attributes::node_info(u32 number, u8 in_port) const noexcept {
    const node& n = topology_.nodes[number];
    smp::NodeInfo i;
    i.baseVersion = 1;
    i.classVersion = 1;
    i.nodeType = n.type;
    i.numPorts = static_cast<u8>(n.num_ports());
    i.systemImageGUID = n.systemImageGUID;
    i.nodeGUID = n.nodeGUID;
    i.portGUID = n.ports[in_port].GUID;
    i.partitionCap = n.is_switch() ? switch_pkeys : ca_pkeys;
    i.deviceID = n.deviceID;
    i.localPortNum = in_port;
    i.vendorID = n.vendorID;
    return i;
}

smp::SwitchInfo attributes::switch_info(u32 number) const noexcept {
    smp::SwitchInfo i;
    i.linearFDBCap = forwarding::linear_capacity;
    i.multicastFDBCap = forwarding::multicast_capacity;
    if (value(topology_.sm_lid) != 0) {
        i.linearFDBTop = forwarding_.top();
        i.lifeTimeValue = packet_life_time;
    }
    if (const smp::SwitchInfo* own = written_.find_switch(number)) i = *own;
    i.portStateChange = port_state_change_[number];
    i.partitionEnforcementCap = switch_pkeys;
    i.inboundEnforcementCap = i.outboundEnforcementCap = true;
    i.enhancedPort0 = topology_.nodes[number].enhanced_port0;
    return i;
}

u16 attributes::get_sm_info(u32 number, u8 in_port, block out) noexcept {
    const router::node_port manager = forwarding_.manager();
    const node& n = topology_.nodes[number];
    const bool is_here = manager.node == number && (n.is_switch() || manager.port == in_port);
    const u8 end_port = n.is_switch() ? u8{0} : in_port;
    const auto other = other_managers_.find({number, end_port});
    if (!is_here && other == other_managers_.end()) return status::unsupported_attribute;
    smp::SMInfo i;
    i.GUID = n.ports[is_here ? manager.port : end_port].GUID;
    i.SMKey = keys_;
    i.actCount = 1;
    i.SMState = is_here ? sm_state_ : other->second.state;
    i.priority = is_here ? sm_priority_ : other->second.priority;
    return put(i, out);
}

// ---- GIDs ------------------------------------------------------------------------------------------------------------

u64 attributes::gid_prefix(u32 number, u8 which) const noexcept {
    const auto* own = written_.find_port(number, which);
    return own && own->info.GIDPrefix != 0 ? own->info.GIDPrefix : GIDPrefix;
}

mad::port_tables attributes::port_tables_of(u32 number, u8 which) noexcept {
    std::vector<u16> PKeys;
    std::vector<iba::gid> gids;
    std::array<u8, 64> bytes;
    for (u32 part = 0; get(number, which, iba::attribute_id<smp::PKeyTable>, part, bytes) == 0; ++part)
        for (const u16 PKey : iba::decode<smp::PKeyTable>(bytes).PKeyBlock) PKeys.push_back(PKey);
    for (u32 part = 0; get(number, which, iba::attribute_id<smp::GUIDInfo>, part, bytes) == 0; ++part)
        for (const iba::guid GUID : iba::decode<smp::GUIDInfo>(bytes).GUIDBlock)
            gids.push_back(GUID == iba::guid{} ? iba::gid{} : iba::gid(gid_prefix(number, which), GUID));
    return {std::move(PKeys), std::move(gids)};
}

bool attributes::has_alias(u32 number, u8 which, const iba::gid& GID) const noexcept {
    const u64 GUID = iba::load_be<u64>(GID.bytes.data() + 8);
    if (GUID == 0 || iba::load_be<u64>(GID.bytes.data()) != gid_prefix(number, which)) return false;
    for (u32 part = 0; part < gid_capacity / u32{gids_of_block}; ++part) {
        const auto* bytes = written_.find_block(number, which, iba::attribute_id<smp::GUIDInfo>, part);
        for (unsigned i = 0; bytes && i < gids_of_block; ++i)
            if (iba::load_be<u64>(bytes->data() + i * 8) == GUID) return true;
    }
    return false;
}

// ---- Ports -----------------------------------------------------------------------------------------------------------

void attributes::set_is_sm(u32 number, u8 which, bool is_sm) {
    if (is_sm) managers_.insert({number, which});
    else managers_.erase({number, which});
}

void attributes::set_manager(u32 number, u8 which, iba::SMState state, u8 priority) {
    const router::node_port manager = forwarding_.manager();
    if (manager.node == number && manager.port == which) {
        sm_state_ = state;
        sm_priority_ = priority;
        return;
    }
    other_managers_.insert_or_assign(std::pair(number, which), other_manager{state, priority});
    set_is_sm(number, which, true);
}

void attributes::set_adaptive_routing(u32 number, bool is_on) {
    if (is_on) adaptive_switches_.insert(number);
    else adaptive_switches_.erase(number);
}

smp::PortInfo attributes::port_info(u32 number, u8 in_port, u32 which) const noexcept {
    const node& n = topology_.nodes[number];
    const port& p = n.ports[which];
    smp::PortInfo i;
    i.MKey = keys_;
    i.localPortNum = in_port;
    describe_link(p, i);
    if (which == 0 || !n.is_switch()) describe_end_port(topology_, n, p, i);
    if (managers_.contains({number, static_cast<u8>(which)})) i.capabilityMask |= value(iba::CapabilityMask::IsSM);
    i.neighborMTU = i.MTUCap = iba::MTU::m4096;
    i.VLCap = i.operationalVLs = iba::VLCap::VL0_7;
    i.VLArbitrationHighCap = i.VLArbitrationLowCap = arbitration_entries;
    i.VLStallCount = 7;
    i.HOQLife = 16;
    i.localPhyErrors = i.overrunErrors = 8;
    const overrides::port_settings* own = written_.find_port(number, static_cast<u8>(which));
    i.portPhysicalState = p.state != iba::PortState::Down ? iba::PortPhysicalState::LinkUp
                          : own                           ? own->resting
                                                          : iba::PortPhysicalState::Polling;
    if (own) copy_written(i, own->info, which == 0 || !n.is_switch());
    return i;
}

u16 attributes::get_port_info(u32 number, u8 in_port, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    constexpr u32 understands_extended_speeds = u32{1} << 31; // the requester's (IBA 14.2.5.6)
    const u32 which = modifier & ~understands_extended_speeds;
    if (which > n.num_ports()) return status::invalid_value;
    smp::PortInfo info = port_info(number, in_port, which == 0 && !n.is_switch() ? in_port : which);
    const bool is_hidden = n.hides_extended_speeds && !(modifier & understands_extended_speeds);
    if (is_hidden || n.never_reports_extended_speeds) {
        info.linkSpeedExtSupported = info.linkSpeedExtEnabled = 0;
        info.linkSpeedExtActive = {};
        info.linkSpeedExtSupported2 = info.linkSpeedExtEnabled2 = 0;
        info.linkSpeedExtActive2 = {};
    }
    return put(info, out);
}

/// Returns the modes of forward error correction. Each speed supports its usual mode or none; the link uses the usual mode.
u16 attributes::get_port_info_extended(u32 number, u8 in_port, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    const u32 which = modifier == 0 && !n.is_switch() ? in_port : modifier;
    if (which > n.num_ports()) return status::invalid_value;
    const port& p = n.ports[which];
    const auto modes_of = [&p](u8 speed) -> u16 {
        const auto usual = fec_of({p.supported.width, speed});
        return (p.supported.speed & speed) == 0 ? 0 : static_cast<u16>(1u << value(usual) | 1u);
    };
    smp::PortInfoExtended i;
    i.capabilityMask = 1; // reports FEC modes
    i.FECModeActive = fec_of(p.active);
    i.FDRFECModeSupported = i.FDRFECModeEnabled = modes_of(8);
    i.EDRFECModeSupported = i.EDRFECModeEnabled = modes_of(16);
    i.HDRFECModeSupported = i.HDRFECModeEnabled = modes_of(32);
    i.NDRFECModeSupported = i.NDRFECModeEnabled = modes_of(64);
    return put(i, out);
}

u16 attributes::get_mlnx_ext_port_info(u32 number, u8 in_port, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    if (!has_mlnx_ext_port_info(n)) return status::unsupported_attribute;
    const u32 which = modifier == 0 && !n.is_switch() ? in_port : modifier;
    if (which > n.num_ports()) return status::invalid_value;
    const port& p = n.ports[which];
    smp::MlnxExtPortInfo i;
    i.LinkSpeedSupported = p.supported.has_fdr10();
    i.LinkSpeedEnabled = p.enabled.has_fdr10();
    i.LinkSpeedActive = p.active.has_fdr10();
    return put(i, out);
}

// Has the capacities of a Quantum switch, and no group, because the forwarding tables are static.
u16 attributes::get_mlnx_ar_info(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    if (!n.is_switch() || !is_mellanox(n)) return status::unsupported_attribute;
    if (modifier != 0) return status::invalid_value;
    smp::MlnxARInfo i;
    i.e = adaptive_switches_.contains(number);
    i.group_cap = 0x800;
    i.ar_version_cap = 1;
    return put(i, out);
}

u16 attributes::get_hierarchy(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    if (n.hierarchies.empty()) return status::unsupported_attribute;
    const u32 which = modifier & 0xff, index = modifier >> 8;
    if (which > n.num_ports() || index >= n.hierarchies.size()) return status::invalid_value;
    const hierarchy& entry = n.hierarchies[index];
    smp::HierarchyInfo i;
    i.templateGUID = entry.templateGUID;
    i.maxSupportedIndex = i.maxActiveIndex = static_cast<u8>(n.hierarchies.size() - 1);
    const std::size_t above = std::min(entry.levels.size(), i.levelData.size() - 1);
    i.activeLevels = static_cast<u8>(above + 1);
    std::copy_n(entry.levels.begin(), above, i.levelData.begin());
    i.levelData[above] = which;
    return put(i, out);
}

u16 attributes::get_port_states(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    smp::SwitchPortStateTable table;
    const std::size_t first = modifier * table.portState.size();
    if (!n.is_switch()) return status::unsupported_attribute;
    if (first > n.num_ports()) return status::invalid_value;
    for (std::size_t p = first; p <= n.num_ports() && p - first < table.portState.size(); ++p)
        table.portState[p - first] = n.ports[p].state;
    return put(table, out);
}

u16 attributes::get_guid_info(u32 number, u8 in_port, u32 modifier, block out) noexcept {
    constexpr u32 blocks = gid_capacity / u32{gids_of_block};
    if (modifier >= blocks) return status::invalid_value;
    const node& n = topology_.nodes[number];
    smp::GUIDInfo i;
    if (modifier == 0) i.GUIDBlock[0] = n.ports[n.is_switch() ? 0 : in_port].GUID;
    return put(i, out);
}

u16 attributes::pkey_blocks(u32 number) const noexcept {
    return (topology_.nodes[number].is_switch() ? switch_pkeys : ca_pkeys) / 32;
}

// Returns the P_Key table. End ports belong to the default partition. The other ports of a switch enforce no partition.
u16 attributes::get_pkey_table(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    const u32 which = n.is_switch() ? modifier >> 16 : 0;
    if (which > n.num_ports() || (modifier & 0xffff) >= pkey_blocks(number)) return status::invalid_value;
    smp::PKeyTable table;
    if (which == 0 && (modifier & 0xffff) == 0) table.PKeyBlock[0] = default_pkey;
    return put(table, out);
}

u16 attributes::get_sl_to_vl(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    const u32 input = modifier >> 8 & 0xff, output = modifier & 0xff;
    if (n.is_switch() && (input > n.num_ports() || output > n.num_ports())) return status::invalid_value;
    smp::SLToVLMappingTable table;
    for (unsigned SL = 0; SL < table.SLtoVL.size(); ++SL) table.SLtoVL[SL] = static_cast<u8>(SL % data_vls);
    return put(table, out);
}

// Returns the arbitration tables. The low-priority table shares the bandwidth equally; the high-priority table has only VL 0.
u16 attributes::get_vl_arbitration(u32 number, u32 modifier, block out) noexcept {
    constexpr u16 low_weight = 4, high_weight = 1;
    const node& n = topology_.nodes[number];
    const u32 part = modifier >> 16, which = modifier & 0xffff;
    if (part < 1 || part > 4 || (n.is_switch() && which > n.num_ports())) return status::invalid_value;
    smp::VLArbitrationTable table;
    const bool has_data_vls = !n.is_switch() || which != 0 || n.enhanced_port0;
    for (unsigned VL = 0; has_data_vls && VL < arbitration_entries; ++VL) {
        if (part == 1) table.VLWeightBlock[VL] = static_cast<u16>(VL << 8 | low_weight);
        if (part == 3) table.VLWeightBlock[VL] = static_cast<u16>(VL << 8 | (VL == 0 ? high_weight : 0));
    }
    return put(table, out);
}

// ---- Forwarding --------------------------------------------------------------------------------------------------------

u16 attributes::get_linear(u32 number, u32 modifier, block out) noexcept {
    if (!topology_.nodes[number].is_switch()) return status::unsupported_attribute;
    if (modifier >= forwarding::linear_capacity / 64u) return status::invalid_value;
    smp::LinearForwardingTable table;
    for (u32 i = 0; i < table.portBlock.size(); ++i) {
        const u32 LID = modifier * 64 + i;
        const bool is_configured = value(topology_.sm_lid) != 0 && LID <= forwarding_.top();
        table.portBlock[i] =
            is_configured ? forwarding_.port_to(number, iba::lid{static_cast<u16>(LID)}) : forwarding::no_port;
    }
    return put(table, out);
}

u16 attributes::get_multicast(u32 number, u32 modifier, block out) noexcept {
    const node& n = topology_.nodes[number];
    if (!n.is_switch()) return status::unsupported_attribute;
    const u32 which = modifier & 0x1ff, position = modifier >> 28;
    if (which >= forwarding::multicast_capacity / 32u || position * 16 > n.num_ports()) return status::invalid_value;
    smp::MulticastForwardingTable table;
    if (which == 0 && value(topology_.sm_lid) != 0)
        table.portMaskBlock[0] = forwarding_.broadcast_ports(number)[position];
    return put(table, out);
}

} // namespace comad::transports::sim
