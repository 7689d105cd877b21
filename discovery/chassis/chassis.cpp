// SPDX-License-Identifier: MIT
// chassis.cpp - groups nodes into systems. chassis_voltaire.cpp and chassis_mellanox.cpp find the boards.
#include "chassis_boards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace comad::discovery {
namespace {

constexpr u32 topspin_vendor = 0x0005ad, infinicon_vendor = 0x00066a, xsigo_vendor = 0x001397;

/// Clears the byte of a GUID that identifies the board or port within a system.
iba::guid without_board(iba::guid GUID) { return iba::guid{value(GUID) & 0xffff'ffff'00ff'ffff}; }

enum class xsigo_type : u8 { switch_node = 1, HCA = 2, TCA = 3 };
bool has_type(iba::guid GUID, xsigo_type type) {
    return value(GUID) >> 32 == (u64{0x001397} << 8 | static_cast<u64>(type));
}
/// Returns whether the node is the first leaf switch, to which the server that manages the chassis is connected.
bool is_first_leaf(iba::guid GUID) { return value(GUID) >> 24 == 0x00'13'97'01'02; }

iba::guid xsigo_system(const subnet& s, const node& n) {
    const iba::guid own = n.info.systemImageGUID;
    if (has_type(own, xsigo_type::switch_node)) return without_board(own);
    if (!has_type(own, xsigo_type::HCA) && !has_type(own, xsigo_type::TCA)) return own;
    const port_ref peer = n.ports.size() > 1 ? n.ports[1].peer : port_ref{};
    if (!peer) return own;
    const iba::guid leaf = s.nodes[peer.node].info.systemImageGUID;
    return is_first_leaf(leaf) ? without_board(leaf) : own;
}

/// Returns the GUID that all nodes of a system have in common; 0: unknown.
iba::guid system_of(const subnet& s, const node& n) {
    const iba::guid own = n.info.systemImageGUID;
    const u32 vendor = n.info.vendorID;
    if (!value(own) || vendor == voltaire_vendor) return {}; // Voltaire systems are identified by their cabling
    if (vendor == topspin_vendor || vendor == infinicon_vendor) return without_board(own);
    return vendor == xsigo_vendor || is_xsigo(own) ? xsigo_system(s, n) : own;
}

/// Groups nodes into systems of more than one node.
class system_grouping {
public:
    system_grouping(const subnet& s, system_groups& groups) : s_(s), groups_(groups) {}

    void run() {
        for (const node& n : s_.nodes)
            if (const iba::guid GUID = system_of(s_, n); value(GUID)) ++nodes_of_[GUID];
        for (auto i = static_cast<u32>(s_.nodes.size()); i-- > 0;) {
            const iba::guid GUID = system_of(s_, s_.nodes[i]);
            if (value(GUID) && nodes_of_[GUID] > 1) add(i, GUID);
        }
        for (std::size_t c = first_; c < groups_.chassis.size(); ++c) {
            chassis& built = groups_.chassis[c];
            std::ranges::reverse(built.others); // they were added in reverse order
            const auto by_slot = [&](u32 i) { return groups_.places[i].slot; };
            std::ranges::sort(built.spines, {}, by_slot);
            std::ranges::sort(built.lines, {}, by_slot);
        }
    }

private:
    void add(u32 i, iba::guid GUID) {
        const auto [found, is_new] = index_.emplace(GUID, static_cast<u32>(groups_.chassis.size()));
        if (is_new) groups_.chassis.emplace_back().GUID = GUID;
        chassis& system = groups_.chassis[found->second];
        chassis_place& place = groups_.places[i];
        if (place.is_in_chassis()) return;
        switch (place.board) {
        case board_kind::none:
        case board_kind::router: system.others.push_back(i); break;
        case board_kind::line:
            if (!is_free(system.lines, place.slot)) return;
            system.lines.push_back(i);
            break;
        case board_kind::spine:
            if (!is_free(system.spines, place.slot)) return;
            system.spines.push_back(i);
            break;
        }
        place.chassis = found->second;
    }

    bool is_free(const std::vector<u32>& boards, u8 slot) const {
        return std::ranges::none_of(boards, [&](u32 i) { return groups_.places[i].slot == slot; });
    }

    const subnet& s_;
    system_groups& groups_;
    const std::size_t first_ = groups_.chassis.size();
    std::unordered_map<iba::guid, u32> nodes_of_, index_;
};

} // namespace

bool is_xsigo(iba::guid GUID) noexcept { return value(GUID) >> 40 == 0x001397; }
bool is_xsigo_hca(iba::guid GUID) noexcept { return has_type(GUID, xsigo_type::HCA); }
bool is_xsigo_tca(iba::guid GUID) noexcept { return has_type(GUID, xsigo_type::TCA); }

system_groups group_nodes(const subnet& s) {
    system_groups groups;
    groups.places.resize(s.nodes.size());
    find_voltaire_boards(s, groups);
    find_mellanox_boards(s, groups);
    system_grouping(s, groups).run();
    for (u32 number = 0; chassis & c : groups.chassis) c.number = ++number;
    return groups;
}

std::string format_slot(const chassis_place& place) {
    static constexpr std::string_view words[] = {"", "Line", "Spine", "SRBD"};
    if (!place.is_in_chassis() || place.board == board_kind::none) return {};
    return fmt::format("{} {} Chip {}", words[static_cast<std::size_t>(place.board)], place.slot, place.chip);
}

} // namespace comad::discovery
