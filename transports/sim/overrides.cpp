// SPDX-License-Identifier: MIT
// overrides.cpp - tables and ports, found again.
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
}
const overrides::block* overrides::find_block(u32 node, u8 port, u16 attributeID, u32 modifier) const noexcept {
    return find_in(blocks_, block_key{attributeID, node, port, modifier});
}
const overrides::port_settings* overrides::find_port(u32 node, u8 number) const noexcept {
    return find_in(ports_, std::pair{node, number});
}
const iba::smp::SwitchInfo* overrides::find_switch(u32 node) const noexcept { return find_in(switches_, node); }

std::optional<u8> overrides::port_to(u32 node, iba::lid to) const noexcept {
    if (const auto* info = find_switch(node); info && value(to) > info->linearFDBTop) return no_port;
    if (const block* ports = find_block(node, 0, linear_table, value(to) / 64u)) return (*ports)[value(to) % 64u];
    return std::nullopt;
}

} // namespace comad::transports::sim
