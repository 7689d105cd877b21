// SPDX-License-Identifier: MIT
// overrides.cpp - finds the tables and port settings that managers have written to simulated nodes.
#include "overrides.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

constexpr u16 linear_table = iba::attribute_id<iba::smp::LinearForwardingTable>;

template <class Map, class Key> auto* find_in(const Map& map, const Key& key) noexcept {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

} // namespace

void overrides::set_block(u32 node, u8 port, u16 attributeID, u32 modifier, std::span<const u8, 64> bytes) {
    std::copy(bytes.begin(), bytes.end(), blocks_[{attributeID, node, port, modifier}].begin());
    has_linear_ = has_linear_ || attributeID == linear_table;
    if (attributeID == iba::attribute_id<iba::smp::PKeyTable> || attributeID == iba::attribute_id<iba::smp::GUIDInfo>)
        ++port_writes_;
    has_pkeys_ = has_pkeys_ || attributeID == iba::attribute_id<iba::smp::PKeyTable>;
}
const overrides::block* overrides::find_block(u32 node, u8 port, u16 attributeID, u32 modifier) const noexcept {
    return find_in(blocks_, block_key{attributeID, node, port, modifier});
}
const overrides::port_settings* overrides::find_port(u32 node, u8 number) const noexcept {
    return find_in(ports_, std::pair{node, number});
}
const iba::smp::SwitchInfo* overrides::find_switch(u32 node) const noexcept { return find_in(switches_, node); }

bool overrides::has_lane(u32 node, std::optional<u8> input, u8 output, u8 SL) const noexcept {
    constexpr unsigned usual_lanes = 8; // VL0_7
    const u32 modifier = input ? u32{*input} << 8 | output : 0;
    const block* lanes =
        find_block(node, input ? u8{0} : output, iba::attribute_id<iba::smp::SLToVLMappingTable>, modifier);
    const unsigned VL = lanes ? (*lanes)[SL / 2u] >> (SL % 2 == 0 ? 4 : 0) & 0xf : SL % usual_lanes;
    const port_settings* own = find_port(node, output);
    switch (own ? own->info.operationalVLs : iba::VLCap::VL0_7) {
    case iba::VLCap::VL0: return VL < 1;
    case iba::VLCap::VL0_1: return VL < 2;
    case iba::VLCap::VL0_3: return VL < 4;
    case iba::VLCap::VL0_14: return VL < 15;
    default: return VL < usual_lanes;
    }
}

std::optional<u8> overrides::port_to(u32 node, iba::lid to) const noexcept {
    if (const auto* info = find_switch(node); info && value(to) > info->linearFDBTop) return no_port;
    if (const block* ports = find_block(node, 0, linear_table, value(to) / 64u)) return (*ports)[value(to) % 64u];
    return std::nullopt;
}

} // namespace comad::transports::sim
